// Composites are nodes of Op::custom whose attr says which one they are.
#pragma once

#include "ops/ops.h"

namespace pullback {

enum class Composite : int8_t {
  None,  // a user's custom_gradient
  mean,
  prod,
  max,  // over axes that do not lie together: folds of folds, whose ties share as one
  min,
  softmax,
  log_softmax,
  logsumexp,
  softmax_cross_entropy,
  sparse_softmax_cross_entropy,
  count
};

const char* name_of(Composite composite);
// Whether its gradient is the composite's own, and no rule of the user's.
bool has_own_rule(const Node* node);
// max or min of x over `axes` (as bits), computed as `inside`.
NodeRef extremum(Op op, const NodeRef& inside, const NodeRef& x, AxisMask axes);
inline Composite composite_of(const Node* node) {
  return node->op == Op::custom ? static_cast<Composite>(node->attr.axis) : Composite::None;
}

}  // namespace pullback
