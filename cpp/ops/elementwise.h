// The gradient rules of elementwise operations, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void elementwise_vjp(const VjpCall& call, Cotangent* out);
void cast_vjp(const VjpCall& call, Cotangent* out);

int elementwise_arity(Op op);

constexpr bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

}  // namespace pullback
