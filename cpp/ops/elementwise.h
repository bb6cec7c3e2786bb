// The table of elementwise.def as the rest of ops/ sees it.
#pragma once

#include "ops/ops.h"

namespace pullback {

const OpDef& elementwise_opdef(Op op);
int elementwise_arity(Op op);

}  // namespace pullback
