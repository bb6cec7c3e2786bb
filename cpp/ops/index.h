// The gradient rules of take, scatter_add, at_index, pick and place, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void take_vjp(const VjpCall& call, Cotangent* out);
void scatter_add_vjp(const VjpCall& call, Cotangent* out);
void at_index_vjp(const VjpCall& call, Cotangent* out);
void pick_vjp(const VjpCall& call, Cotangent* out);
void place_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
