// The elementwise kernels of bools and integers, compiled once per instruction set: see
// elementwise.h.
#include "backend/cpu/kernels/elementwise.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback::PULLBACK_KERNELS {

constinit const ElementwiseTable kIntegerTable =
    filled<Part::Vector, DType::Bool, DType::Int32, DType::Int64, DType::UInt64>();

}  // namespace pullback::PULLBACK_KERNELS
