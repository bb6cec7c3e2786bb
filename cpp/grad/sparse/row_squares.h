// Computes the sum of squares of each entry of the first axis, without computing values that are
// only squared and summed.
#pragma once

#include "graph/node.h"

namespace pullback {

// Of a tensor of rank 1 or more: a real tensor of shape (shape[0],). Where it is an outer product
// for each entry, as the gradient of a layer's weights for an example is, the length is that of
// one factor times that of the other (I. Goodfellow, Efficient per-example gradient computations,
// 2015).
NodeRef row_squares(const NodeRef& x);

}  // namespace pullback
