// Memory planning: lifetimes of the slots and a place in one arena for each temporary.
#pragma once

#include "plan/plan.h"

namespace pullback {

// Fills donated arguments, the places of temporaries, and arena_bytes; slots that share memory
// become one.
void plan_memory(Plan* plan);

}  // namespace pullback
