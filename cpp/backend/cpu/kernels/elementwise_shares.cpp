// The elementwise kernels of incomplete gamma and beta functions, compiled once per instruction
// set: see elementwise.h.
#include "backend/cpu/kernels/elementwise_shares.h"
#include "backend/cpu/kernels/elementwise.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback::PULLBACK_KERNELS {

constinit const ElementwiseTable kShareTable =
    filled<Part::Share, DType::Float32, DType::Float64>();

}  // namespace pullback::PULLBACK_KERNELS
