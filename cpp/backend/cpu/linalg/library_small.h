// Routines over batches of small matrices, by our own kernels instead of LAPACK.
#pragma once

#include "backend/common/slots.h"

namespace pullback {

bool is_small(const LibraryCall& call);
// Computes the matrices `first` … `end` - 1.
Status run_small(const LibraryCall& call, const Slots& slots, int64_t first, int64_t end);

}  // namespace pullback
