// Copy elision: a temporary and a shifted copy of it become one memory.
#pragma once

#include "plan/plan.h"

namespace pullback {

// Runs after writes are coalesced and before memory is planned.
void elide_copies(Plan* plan);

}  // namespace pullback
