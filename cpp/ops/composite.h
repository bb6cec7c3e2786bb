// Composites are nodes of Op::custom whose attr says which one they are.
#pragma once

#include "ops/ops.h"

namespace pullback {

enum class Composite : int8_t {
  None,  // a user's custom_gradient
  mean,
  prod,
  softmax,
  log_softmax,
  logsumexp,
  softmax_cross_entropy,
  sparse_softmax_cross_entropy,
  count
};

const char* name_of(Composite composite);
inline Composite composite_of(const Node* node) {
  return node->op == Op::custom ? static_cast<Composite>(node->attr.axis) : Composite::None;
}

}  // namespace pullback
