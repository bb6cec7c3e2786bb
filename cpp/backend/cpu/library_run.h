// Routines of LAPACK over a batch of matrices.
#pragma once

#include "backend/cpu/slots.h"

namespace pullback {

Status run_library(const LibraryCall& call, const Slots& slots);

}  // namespace pullback
