// The gradient rule of matmul, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void matmul_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
