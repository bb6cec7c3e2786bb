// check_numerics: while a thread is in it, each tensor that it gets and each cotangent is computed
// at once, and the first that is not finite is an error where it was made.

#include <cmath>
#include <string>

#include "bind/convert.h"
#include "bind/sites.h"
#include "graph/make.h"
#include "graph/recorder.h"
#include "graph/walk.h"
#include "ops/ops.h"
#include "plan/evaluate.h"

namespace pullback {
namespace {

thread_local int checks = 0;  // how often this thread has entered it; …
int entered = 0;              // … and all threads
thread_local bool busy = false;

struct Count {
  int64_t nan = 0, infinite = 0, first = -1;
};

template <class T>
Count count(const void* data, int64_t size) {
  const T* values = static_cast<const T*>(data);
  Count out;
  for (int64_t i = 0; i < size; ++i) {
    if (std::isfinite(values[i])) continue;
    if (out.first < 0) out.first = i;
    ++(std::isnan(values[i]) ? out.nan : out.infinite);
  }
  return out;
}

Count count(const Node* node) {
  if (!node->value || !is_float(node->dtype)) return {};
  return node->dtype == DType::Float32 ? count<float>(node->value->data, node->shape.size())
                                       : count<double>(node->value->data, node->shape.size());
}

std::string shown(const Count& bad, const Shape& shape) {
  const int64_t many = bad.nan + bad.infinite;
  const char* kind = bad.nan ? "NaN" : "infinite";
  if (shape.rank == 0) return kind;
  std::string index;
  int64_t rest = bad.first;
  for (int64_t d = shape.rank; d-- > 0; rest /= shape[d]) {
    index = text(rest % shape[d], index.empty() ? "" : ", ", index);
  }
  return text(kind, " (", many, " of ", shape.size(), " entries, the first at [", index, "])");
}

std::string place_of(const Node* node) {
  const Record* record = record_of(node->seq);
  const py::object site = site_of(record ? record->site : 0);
  if (site.is_none()) return "";
  const py::tuple parts = site;
  return text(", made at ", std::string(py::str(parts[0])), ":", std::string(py::str(parts[1])));
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::FloatingPoint, "check_numerics: " + message, Error::Of::Run);
}

void check(Node* node, const Node* operation) {
  if (!checks || busy || !is_float(node->dtype) || node->flags & kTraced) return;
  if (!operation && (is_leaf(node->op) || node->op == Op::read)) return;
  const Ref<Node> held(node);
  busy = true;
  std::vector<Ref<Node>> inputs;
  for (Node* input : value_inputs(node)) inputs.emplace_back(input);
  try {
    evaluate(node);
  } catch (...) {
    busy = false;
    throw;
  }
  busy = false;
  const Count bad = count(node);
  if (bad.first < 0) return;
  if (operation) {
    refuse(text("backward: the slope of ", display_name(operation), place_of(operation),
                ", sends a cotangent that is ", shown(bad, node->shape)));
  }
  for (const Ref<Node>& input : inputs) {
    const Count before = count(input.get());
    if (before.first < 0) continue;
    refuse(text(display_name(node), place_of(node), ", is given a ", display_name(input.get()),
                " that is ", shown(before, input->shape), " already"));
  }
  refuse(text(display_name(node), place_of(node), ", gives a value that is ",
              shown(bad, node->shape), " of finite numbers"));
}

void enter() {
  ++checks;
  if (entered++ == 0) check_numbers = check;
}

void leave() {
  --checks;
  if (--entered == 0) check_numbers = nullptr;
}

}  // namespace

bool checking_numbers() { return checks > 0; }

void bind_check_numbers(py::module_& m) {
  m.def("enter_check_numbers", &enter);
  m.def("leave_check_numbers", &leave);
}

}  // namespace pullback
