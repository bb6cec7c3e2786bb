// The sum of squares of each entry along the first axis, without what is only squared and summed.
#pragma once

#include "graph/node.h"

namespace pullback {

// Of a tensor of rank 1 or more: a tensor of shape (shape[0],). Where it is a product for each
// entry, as the gradient of a layer's weights for each example is, ‖AB‖² = Σ (AᵀA)∘(BBᵀ) needs two
// small products in its place (I. Goodfellow, Efficient per-example gradient computations, 2015).
Ref<Node> row_squares(const Ref<Node>& x);

}  // namespace pullback
