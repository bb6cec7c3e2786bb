// Storage dtypes (float16, int8 and others), which are stored and not computed in: rewrites a tile
// group over them as one in the dtypes that kernels exist for.
#pragma once

#include "plan/plan.h"

namespace pullback {

bool has_storage(const TileGroup& group);

// The same group in dtypes that kernels exist for: what is stored narrow is cast after its load,
// and rounded to its own dtype after every operation, so that it does not matter which operations
// are in one group. Every cast of the result is one kernel.
TileGroup widened(const TileGroup& group);

}  // namespace pullback
