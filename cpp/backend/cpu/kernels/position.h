// Kernels of argmax and argmin: the position of the largest or smallest value, the first of equal
// ones; NaN counts as largest and as smallest. Compiled once per instruction set, as the files of
// table.h.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace pullback {

constexpr int64_t kPositionColumns = 256;

struct PositionKernel {
  // out[r]: the position within row r of `length` values, which are fewer than 2³⁰.
  void (*rows)(const void* values, int64_t rows, int64_t length, int64_t* out) noexcept;
  // out[j]: the best row of values[r * stride + j]. At most kPositionColumns columns; at least 16
  // unless columns == stride.
  void (*columns)(const void* values, int64_t rows, int64_t stride, int64_t columns,
                  int64_t* out) noexcept;
};

struct PositionTable {
  PositionKernel of[2][kComputeDTypes];  // [largest]
};

}  // namespace pullback
