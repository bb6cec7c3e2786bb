// Storage dtypes (float16, int8 and others), which are stored and not computed in: rewrites a tile
// group over them as one in the dtypes that kernels exist for.
#pragma once

#include "plan/plan.h"

namespace pullback {

bool has_storage(const TileGroup& group);

// The group in compute dtypes: storage dtypes are cast after loads, and values are rounded to their
// own dtype after every operation, so that grouping does not affect results. Every cast is a single
// kernel.
TileGroup widened(const TileGroup& group);

}  // namespace pullback
