// The elementwise kernels whose rows call special::, compiled once: their loops call a scalar
// function per element, so the instruction set makes no difference.
#include "backend/cpu/kernels/elementwise.h"

namespace pullback::special {

constinit const ElementwiseTable kSpecialTable =
    filled<Part::Scalar, DType::Float32, DType::Float64>();

}  // namespace pullback::special
