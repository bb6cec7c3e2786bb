// The rules of the reductions, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void sum_vjp(const VjpCall& call, Cotangent* out);
void extremum_vjp(const VjpCall& call, Cotangent* out);

// Length of the parts before, inside and after the folded block of axes.
struct FoldedShape {
  int64_t outer = 1, reduced = 1, inner = 1;
};
FoldedShape folded_shape(const Shape& shape, uint8_t axes);

}  // namespace pullback
