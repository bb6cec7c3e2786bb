// is_modular: the operations on integers that need no more bits than their result has.
#pragma once

#include "graph/op.h"

namespace pullback {

// True if the low bits of an integer result depend on the low bits of the operands only: sums,
// products, choices and operations on bits. So they have kernels for storage dtypes too.
constexpr bool is_modular(Op op) {
  return is_elementwise(op) && (traits(op).ring || op == Op::bitwise_and || op == Op::bitwise_or ||
                                op == Op::bitwise_xor || op == Op::bitwise_invert);
}

}  // namespace pullback
