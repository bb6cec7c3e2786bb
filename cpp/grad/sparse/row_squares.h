// Computes the sum of squares of each entry of the first axis, without computing values that are
// only squared and summed.
#pragma once

#include "graph/node.h"

namespace pullback {

// For a real tensor of rank 1 or more; the result has the shape (shape[0],). If each entry is an
// outer product, as the gradient of a layer's weights by example, the length is the product of the
// lengths of the factors (I. Goodfellow, "Efficient per-example gradient computations", 2015).
NodeRef row_squares(const NodeRef& x);

}  // namespace pullback
