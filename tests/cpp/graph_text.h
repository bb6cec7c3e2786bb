// Graphs written as text, for the tests of the planner's passes, and what a pass makes of them as
// text again:
//
//   x = argument f32[4,3]
//   s = sum x axes=1 keepdims
//   y = divide x s
//   return y
//
// A line is a name, an operation, and in any order its operands, a shape in brackets and settings.
// `number` is a scalar of the run, `constant` one of our own formulas. What is returned is asked
// for; `hold` names what somebody still holds; `replace x by y` says that y is assigned to the
// variable which had the value x. A node that a builder adds by itself goes by its operation.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "graph/make.h"
#include "ops/ops.h"
#include "plan/passes/snapshot.h"

namespace pullback::test {

// --- reading

inline std::vector<int64_t> list_of(const std::string& text) {
  std::vector<int64_t> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(std::stoll(part));
  return out;
}

class GraphText {
 public:
  explicit GraphText(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) read(line);
  }

  // Of what is returned. What the text neither returns nor holds is held by its users alone.
  Snapshot snapshot(bool traced = false) {
    std::vector<Replacement> replacements;
    for (const auto& [x, y] : replaced_) replacements.push_back({x.get(), y.get()});
    std::erase_if(nodes_, [&](const auto& item) {
      return std::find(held_.begin(), held_.end(), item.first) == held_.end();
    });
    return take_snapshot(pointers(returned_), traced, replacements);
  }

  std::string name(const Node* node) const {
    const auto found = names_.find(node);
    return found == names_.end() ? name_of(node->op) : found->second;
  }

 private:
  static DType dtype_of(const std::string& text) {
    const std::map<std::string, DType> known = {{"b", DType::Bool},
                                                {"i32", DType::Int32},
                                                {"i64", DType::Int64},
                                                {"f32", DType::Float32},
                                                {"f64", DType::Float64}};
    return known.at(text);
  }

  void read(const std::string& line) {
    std::istringstream in(line);
    std::string name, word;
    if (!(in >> name)) return;
    if (name == "hold") {
      while (in >> word) held_.push_back(word);
      return;
    }
    if (name == "return") {
      while (in >> word) returned_.push_back(nodes_.at(word));
      return;
    }
    in >> word >> op_;
    if (name == "replace") {
      const NodeRef before = nodes_.at(word);
      in >> word;
      replaced_.emplace_back(before, nodes_.at(word));
      return;
    }
    settings_.clear();
    shape_ = {};
    dtype_ = DType::Float32;
    while (in >> word) read_word(word);
    const NodeRef node = make();
    nodes_[name] = node;
    names_.try_emplace(node.get(), name);
    operands_.clear();  // nobody holds them any more
  }

  void read_word(const std::string& word) {
    const size_t bracket = word.find('[');
    const size_t equals = word.find('=');
    if (bracket != std::string::npos) {
      if (bracket > 0) dtype_ = dtype_of(word.substr(0, bracket));
      for (int64_t dim : list_of(word.substr(bracket + 1, word.size() - bracket - 2))) {
        shape_.append(dim);
      }
    } else if (equals != std::string::npos) {
      settings_[word.substr(0, equals)] = word.substr(equals + 1);
    } else if (nodes_.count(word)) {
      operands_.push_back(nodes_[word]);
    } else {
      settings_[word] = "1";
    }
  }

  int64_t setting(const std::string& name) const { return std::stoll(settings_.at(name)); }
  StridedSlice strided_slice() const {
    StridedSlice out(shape_.rank);
    const auto fill = [&](const char* name, PerAxis* to) {
      if (!settings_.count(name)) return;
      const std::vector<int64_t> values = list_of(settings_.at(name));
      std::copy(values.begin(), values.end(), to->begin());
    };
    fill("start", &out.start);
    fill("step", &out.step);
    return out;
  }

  NodeRef make() const {
    if (op_ == "argument") {
      return make_value(dtype_, shape_, make_buffer(shape_.size() * size_of(dtype_)));
    }
    if (op_ == "number" || op_ == "constant") {
      const double value = settings_.count("is") ? std::stod(settings_.at("is")) : 0;
      const NodeRef out = scalar(settings_.count("i64") ? DType::Int64 : DType::Float32, value);
      if (op_ == "number") out->flags = 0;
      return out;
    }
    if (op_ == "cast") return cast(operands_[0], dtype_of(settings_.at("to")));
    if (op_ == "reshape") return reshape(operands_[0], shape_);
    if (op_ == "broadcast_to") return broadcast_to(operands_[0], shape_);
    if (op_ == "transpose") return transpose(operands_[0]);
    if (op_ == "slice") return slice(operands_[0], shape_, strided_slice());
    if (op_ == "matmul") return matmul(operands_[0], operands_[1]);
    if (op_ == "concat") return concat(operands_, setting("axis"));
    if (op_ == "take") return take(operands_[0], operands_[1], setting("axis"));
    if (op_ == "at_index") {
      return at_index(operands_[0], operands_[1], operands_[2], setting("axis"), Update::Set,
                      false);
    }
    if (op_ == "pick") return pick(operands_[0], operands_[1]);
    if (op_ == "place") return place(operands_[0], operands_[1], setting("length"));
    if (op_ == "at_slice")
      return at_slice(operands_[0], operands_[1], strided_slice(), Update::Set);
    for (int i = 0; i < kOps; ++i) {
      const Op op = static_cast<Op>(i);
      if (op_ != name_of(op)) continue;
      if (is_fold(op)) {
        Axes axes;
        if (settings_.count("axes")) axes = list_of(settings_.at("axes"));
        return reduce(op, operands_[0], axes, settings_.count("keepdims") > 0);
      }
      if (is_elementwise(op)) return elementwise(op, pointers(operands_));
    }
    std::printf("no operation of a graph's text: %s\n", op_.c_str());
    std::abort();
  }

  std::map<std::string, NodeRef> nodes_;
  std::map<const Node*, std::string> names_;
  std::vector<NodeRef> returned_;
  std::vector<std::pair<NodeRef, NodeRef>> replaced_;
  std::vector<std::string> held_;
  // The line that is being read.
  std::string op_;
  std::vector<NodeRef> operands_;
  std::map<std::string, std::string> settings_;
  Shape shape_;
  DType dtype_ = DType::Float32;
};

// --- comparing

// Lines without the spaces around them, and without empty ones.
inline std::string trimmed(const std::string& text) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    out += line.substr(begin, line.find_last_not_of(' ') + 1 - begin) + "\n";
  }
  return out;
}

inline void check_text(const std::string& got, const std::string& expected,
                       const std::string& what) {
  check(trimmed(got) == trimmed(expected),
        what + ": expected\n" + trimmed(expected) + "got\n" + trimmed(got));
}

inline std::string list_text(const PerAxis& values) {
  std::string out;
  for (int64_t value : values) out += (out.empty() ? "" : ",") + std::to_string(value);
  return out;
}

}  // namespace pullback::test
