// Memory planning: lifetimes of the slots and a place in one arena for each temporary.
#pragma once

#include "plan/plan.h"

namespace pullback {

// Fills first and last of every slot, the arena offsets of temporaries, and arena_bytes.
void plan_memory(Plan* plan);

}  // namespace pullback
