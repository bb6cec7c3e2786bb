// The elementwise kernels of float64, compiled once per instruction set: see elementwise.h.
#include "backend/cpu/kernels/elementwise.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback::PULLBACK_KERNELS {

constinit const ElementwiseTable kFloat64Table = filled<Part::Vector, DType::Float64>();

}  // namespace pullback::PULLBACK_KERNELS
