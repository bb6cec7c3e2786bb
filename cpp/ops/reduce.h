// Helpers of reductions, and their gradient rules for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void sum_vjp(const VjpCall& call, Cotangent* out);
void extremum_vjp(const VjpCall& call, Cotangent* out);
// The cotangent of x; y is its max or min over axes and g the cotangent of y.
Cotangent extremum_cotangent(Op op, const NodeRef& y, const NodeRef& g, const NodeRef& x);
// True if y, an extreme of the entries of x, is certain to equal one of them whenever x is
// computed. A later plan may compute x again, fused with other operations and rounded differently.
// If false, a rule computes y again beside x.
bool agrees(const Node* y, const Node* x);

// Axes as bits, checked; nullopt: all axes.
AxisMask axes_mask(const Shape& shape, const Axes& axes, const char* who);
// The shape after folding these axes.
Shape folded(const Shape& shape, AxisMask mask, bool keepdims);

// Number of elements of the axes before, inside and after the folded block.
struct FoldedShape {
  int64_t outer = 1, reduced = 1, inner = 1;
};
FoldedShape folded_shape(const Shape& shape, AxisMask axes);

}  // namespace pullback
