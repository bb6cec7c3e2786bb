// Write coalescing: several steps that fill parts of one memory write there directly.
#pragma once

#include "plan/plan.h"

namespace pullback {

// Disjoint parts are written instead of added to zeros, zeros that no step reads are not written,
// tile groups store their results in place, and copies of columns are one group. Runs before memory
// is planned.
void coalesce_writes(Plan* plan);

}  // namespace pullback
