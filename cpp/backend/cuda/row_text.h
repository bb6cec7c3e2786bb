// The texts of rows of elementwise.def, and the types of dtypes in kernels.
#pragma once

#include <string>

#include "graph/op.h"
#include "plan/tile_group.h"

namespace pullback::cuda {

struct RowText {
  const char* value;  // an expression of a, b and c; null if the operation has no row
  int operands;
};
RowText row_text(Op op);

// The C++ type of an element in memory; null for complex numbers, which kernels do not have.
const char* type_of(DType dtype);
// A value of one dtype as another, as the casts of the CPU.
std::string cast_text(DType from, DType to, const std::string& value);
bool is_signed(DType dtype);

// Overflow of signed numbers is undefined in CUDA C++, so these are computed with unsigned ones.
bool wraps(Op op);

// True if kernels have the instruction, which is not a fold.
bool has_kernel(const Instruction& instruction);

}  // namespace pullback::cuda
