// Strided copies, compiled to one of three loops.
#pragma once

#include "backend/cpu/slots.h"

namespace pullback {

// outer (up to rank-2 axes) x rows x columns. Strides in elements.
struct LayoutProgram {
  View in, out;
  bool clear = false;
  bool empty = false;
  bool contiguous = false;  // columns are contiguous on both sides; then rows == 1
  bool worth = false;       // threads
  int64_t element = 0;      // bytes
  int64_t outer = 1;
  int outer_rank = 0;
  int64_t dim[kMaxRank]{}, in_stride[kMaxRank]{}, out_stride[kMaxRank]{};
  int64_t rows = 1, in_row = 0, out_row = 0;
  int64_t columns = 1, in_column = 1, out_column = 1;
};

LayoutProgram compile_layout(const Layout& layout);
Status run_layout(const LayoutProgram& program, const Slots& slots);

}  // namespace pullback
