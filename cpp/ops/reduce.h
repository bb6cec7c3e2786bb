// The rules of the reductions, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void sum_vjp(const VjpCall& call, Cotangent* out);
void extremum_vjp(const VjpCall& call, Cotangent* out);
// That of x, where y is its max or min over axes and g the cotangent of y.
Cotangent extremum_cotangent(Op op, const NodeRef& y, const NodeRef& g, const NodeRef& x);
// Whether y, a choice among the entries of x, and x are from one rounding of x, whatever is
// computed when. A later plan may compute x again, together with something else, and no entry would
// be y: where this is false a rule finds y again.
bool agrees(const Node* y, const Node* x);

// Axes as bits, checked; nullopt is all of them.
AxisMask axes_mask(const Shape& shape, const Axes& axes, const char* who);
// The shape after folding those axes.
Shape folded(const Shape& shape, AxisMask mask, bool keepdims);

// Length of the parts before, inside and after the folded block of axes.
struct FoldedShape {
  int64_t outer = 1, reduced = 1, inner = 1;
};
FoldedShape folded_shape(const Shape& shape, AxisMask axes);

}  // namespace pullback
