// The rules of take and scatter_add, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void take_vjp(const VjpCall& call, Cotangent* out);
void scatter_add_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
