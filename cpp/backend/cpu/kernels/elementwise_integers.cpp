// The elementwise kernels of bools and integers, compiled once per instruction set: see
// elementwise.h.
#include "backend/cpu/kernels/elementwise.h"
#include "plan/modular.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

// The kernels of a storage dtype, for integers of the size of T: their sign does not matter. T is
// signed, because uint8_t means bool.
template <DType dtype, class T>
constexpr void fill_modular(ElementwiseTable& table) {
#define PULLBACK_CELL(shape, name)                                  \
  if constexpr (is_modular(Op::name)) {                             \
    table.of[static_cast<int>(Op::name)][static_cast<int>(dtype)] = \
        &shape<Op::name, row::name, T, T>;                          \
  }
#define UNARY(name, ...) PULLBACK_CELL(unary, name)
#define BINARY(name, ...) PULLBACK_CELL(binary, name)
#define TERNARY(name, ...) PULLBACK_CELL(ternary, name)
#include "graph/elementwise.def"
}
#undef PULLBACK_CELL

constexpr ElementwiseTable filled_integers() {
  auto table = filled<Part::Vector, DType::Bool, DType::Int32, DType::Int64, DType::UInt64>();
  fill_modular<DType::Int8, int8_t>(table);
  fill_modular<DType::UInt8, int8_t>(table);
  fill_modular<DType::Int16, int16_t>(table);
  fill_modular<DType::UInt16, int16_t>(table);
  fill_modular<DType::UInt32, int32_t>(table);
  return table;
}

}  // namespace

namespace PULLBACK_KERNELS {
constinit const ElementwiseTable kIntegerTable = filled_integers();
}  // namespace PULLBACK_KERNELS

}  // namespace pullback
