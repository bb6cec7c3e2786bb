// The gradient rules of the movement operations, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void identity_vjp(const VjpCall& call, Cotangent* out);
void transfer_vjp(const VjpCall& call, Cotangent* out);
void reshape_vjp(const VjpCall& call, Cotangent* out);
void transpose_vjp(const VjpCall& call, Cotangent* out);
void broadcast_vjp(const VjpCall& call, Cotangent* out);
void slice_vjp(const VjpCall& call, Cotangent* out);
void embed_vjp(const VjpCall& call, Cotangent* out);
void at_slice_vjp(const VjpCall& call, Cotangent* out);
void concat_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
