// Builds the key of a node: everything that determines its value and its derivative.

#include "graph/common_subexpressions.h"

#include "graph/rule.h"
#include "graph/walk.h"

namespace pullback {
namespace {

// True if the key determines the node. False for callbacks, draws and operations with several
// outputs.
bool has_complete_key(const Node* node) {
  if (node->op == Op::read || operation_of(node)) return false;
  if (node->inputs_count == 0) return node->op == Op::scalar && node->flags & kConstant;
  switch (traits(node->op).kind) {
    case OpKind::View:
      return node->op != Op::custom_call;
    case OpKind::Elementwise:
    case OpKind::Fold:
    case OpKind::Pick:
    case OpKind::Place:
      return true;
    case OpKind::Leaf:
      return false;
    case OpKind::Step:
      break;
  }
  switch (traits(node->op).step) {
    case StepKind::ArgFold:
    case StepKind::Product:
    case StepKind::Concat:
    case StepKind::Embed:
    case StepKind::AtSlice:
    case StepKind::Indexed:
    case StepKind::Scan:
    case StepKind::Sort:
    case StepKind::Search:
    case StepKind::Convolve:
    case StepKind::Pool:
      return true;
    case StepKind::None:
    case StepKind::Iota:
    case StepKind::Random:
    case StepKind::Callback:
    case StepKind::Control:
    case StepKind::Library:
    case StepKind::Output:
      return false;
  }
  return false;
}

}  // namespace

bool CommonSubexpressions::start_key(const Node* node) {
  if (!has_complete_key(node)) return false;
  key_.clear();
  add('o', node->op);
  add('d', node->dtype);
  add('a', node->attr);
  add('f', static_cast<uint8_t>(node->flags & (kWeak | kConstant)));
  add('t', node->in_composite);
  // A rule of the library has no state of its own: the attributes determine it.
  const bool users = node->rule && !node->rule->of_library;
  add('r', reinterpret_cast<uintptr_t>(users ? node->rule.get() : nullptr));
  for (const int64_t length : node->shape) add('s', length);
  if (node->slice) {
    for (const int64_t start : node->slice->start) add('w', start);
    for (const int64_t step : node->slice->step) add('w', step);
  }
  if (node->op == Op::scalar) add('c', node->scalar);
  return true;
}

}  // namespace pullback
