// The elementwise kernels of functions of an order, compiled once per instruction set: see
// elementwise.h.
#include "backend/cpu/kernels/elementwise.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback::PULLBACK_KERNELS {

constinit const ElementwiseTable kOrderTable =
    filled<Part::Order, DType::Float32, DType::Float64>();

}  // namespace pullback::PULLBACK_KERNELS
