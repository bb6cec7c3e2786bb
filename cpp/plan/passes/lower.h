// Lowering: turns fusion groups into steps, and values into slots. The state is in
// lowering.h.
#pragma once

#include "plan/passes/fuse.h"
#include "plan/plan.h"

namespace pullback {

// The plan without its arena offsets (see plan_memory.h).
Plan lower(const Analysis& analysis, const Fusion& fusion);

}  // namespace pullback
