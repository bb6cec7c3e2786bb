// check_numerics: inside of the block, each tensor and each cotangent is evaluated at once, and the
// first one that is not finite raises an error at the place where it was made.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "bind/arrays/convert.h"
#include "bind/common/context.h"
#include "bind/common/no_pickle.h"
#include "bind/explain/sites.h"
#include "bind/operations/composite_function.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "graph/recorder.h"
#include "graph/runtime.h"
#include "graph/walk.h"
#include "ops/ops.h"

namespace pullback {
namespace {

// The blocks that the context has entered.
struct CheckEntry {
  bool open = true;
};
ContextStack<CheckEntry>& checks() {
  static auto* stack = new ContextStack<CheckEntry>("pullback.check_numerics");
  return *stack;
}
int entered = 0;  // open blocks of all contexts
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
  if (node->op == Op::scalar && is_float(node->dtype)) return count<double>(&node->scalar.f, 1);
  if (!node->value || !is_inexact(node->dtype)) return {};
  const int64_t size = node->shape.size();
  const Ref<Buffer> value = read_back(node);
  const void* data = value->host();
  if (is_complex(node->dtype)) {
    const bool wide = node->dtype == DType::Complex128;
    Count out = wide ? count<double>(data, 2 * size) : count<float>(data, 2 * size);
    out.first = out.first < 0 ? out.first : out.first / 2;
    return out;
  }
  if (node->dtype == DType::Float32) return count<float>(data, size);
  if (node->dtype == DType::Float64) return count<double>(data, size);
  std::vector<double> wide;
  for (int64_t i = 0; i < size; ++i) {
    const auto* at = static_cast<const char*>(data) + i * size_of(node->dtype);
    wide.push_back(load_scalar(node->dtype, at).f);
  }
  return count<double>(wide.data(), size);
}

std::string count_text(const Count& bad, const Shape& shape) {
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
  const std::string place = path_and_line_of(site_number(node));
  return place.empty() ? place : ", made at " + place;
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::FloatingPoint, "check_numerics: " + message, Error::Of::Run);
}

void check(Node* node, const Node* operation) {
  if (busy || !checking_numbers() || !is_inexact(node->dtype) || node->flags & kTraced) return;
  // Of a composite, the result is checked: values inside may be masked later.
  if (!operation && (is_leaf(node->op) || node->op == Op::read || open_composite())) return;
  const NodeRef held(node);
  busy = true;
  std::vector<NodeRef> inputs;
  const bool composite = node->op == Op::custom && node->attr.composite != Composite::None;
  for (Node* input : composite ? given_inputs(node) : value_inputs(node))
    inputs.emplace_back(input);
  try {
    evaluate(node);
  } catch (...) {
    busy = false;
    throw;
  }
  busy = false;
  const Count bad = count(node);
  if (bad.first < 0) return;
  if (operation == node) {
    refuse(text("backward: the initial cotangent is ", count_text(bad, node->shape)));
  }
  if (operation) {
    refuse(text("backward: the slope of ", display_name(operation), place_of(operation),
                ", produces a cotangent that is ", count_text(bad, node->shape)));
  }
  // Infinities of the inputs may be intended, as in masks, and are allowed; NaN is not.
  bool known = !inputs.empty();
  bool infinite = false;
  for (const NodeRef& input : inputs) {
    known &= input->has_value();
    const Count before = count(input.get());
    infinite |= before.infinite > 0;
    if (before.nan == 0) continue;
    refuse(text(display_name(node), place_of(node), ", receives a ", display_name(input.get()),
                " that is ", count_text(before, input->shape), " already"));
  }
  if (infinite && bad.nan == 0) return;
  refuse(text(display_name(node), place_of(node), ", returns a value that is ",
              count_text(bad, node->shape), known && !infinite ? " of finite numbers" : ""));
}

// One block, of the context that entered it.
class NumberCheck {
 public:
  NumberCheck() : entry_(std::make_shared<CheckEntry>()) {
    checks().enter(entry_);
    if (entered++ == 0) runtime.check_numbers = check;
  }
  ~NumberCheck() { leave(); }
  NumberCheck(const NumberCheck&) = delete;
  NumberCheck& operator=(const NumberCheck&) = delete;

  // A Python object made by __new__ alone is a block that was left.
  static void* operator new(size_t size) {
    return ::new (::operator new(size)) NumberCheck(nullptr);
  }
  static void operator delete(void* check) { ::operator delete(check); }

  void leave() {
    if (!entry_) return;
    entry_->open = false;
    entry_ = nullptr;
    if (--entered == 0) runtime.check_numbers = nullptr;
  }

 private:
  explicit NumberCheck(std::nullptr_t) {}

  std::shared_ptr<CheckEntry> entry_;
};

}  // namespace

bool checking_numbers() {
  const auto* entries = entered ? checks().current() : nullptr;
  return entries && std::ranges::any_of(*entries, [](const auto& entry) { return entry->open; });
}

void bind_check_numbers(py::module_& m) {
  py::class_<NumberCheck> check(m, "NumberCheck", "A block of check_numerics.");
  no_pickle(check)
      .def(py::init<>(), "Enter the block.")
      .def("leave", &NumberCheck::leave, "Leave the block.");
  m.def("checking_numbers", &checking_numbers, "Test for an open block in this context.");
  m.def(
      "rest_checks", [](bool rest) { return std::exchange(busy, rest); }, py::arg("rest"),
      "Pause or resume the checks of this thread and return the previous state.");
}

}  // namespace pullback
