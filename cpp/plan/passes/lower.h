// Lowering: units become steps, values become slots.
#pragma once

#include "plan/passes/fuse.h"
#include "plan/plan.h"

namespace pullback {

// The plan without its arena offsets (see memory.h).
Plan lower(const Analysis& analysis, const Fusion& fusion);

}  // namespace pullback
