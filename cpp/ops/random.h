// The gradient rules of draws with respect to their parameters, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void random_gamma_vjp(const VjpCall& call, Cotangent* out);
void random_log_gamma_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
