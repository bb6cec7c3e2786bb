// Storage dtypes (float16, int8 and others), which are stored and not computed in: rewrites the
// tile groups over them as groups in the dtypes that kernels exist for.
#pragma once

#include "plan/plan.h"

namespace pullback {

// Casts storage dtypes after loads, and rounds values to their own dtype after every operation, so
// that grouping does not affect results. Every cast is a single kernel.
void widen(Plan* plan);

}  // namespace pullback
