// Fourier transforms of columns of matrices.
#pragma once

#include "backend/cpu/slots.h"

namespace pullback {

Status run_fourier(const LibraryCall& call, const Slots& slots);

}  // namespace pullback
