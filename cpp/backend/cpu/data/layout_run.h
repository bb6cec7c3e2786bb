// LayoutProgram: a strided copy, or a strided addition to the output. layout_compile.cpp chooses
// its loops, layout_run.cpp runs them.
#pragma once

#include "backend/common/slots.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {

// The loop nest: outer (up to rank-2 axes) x rows x columns, in units of unit_rows x unit_columns.
// Strides in elements.
struct LayoutProgram {
  static constexpr int64_t kBlock = 64;     // side of a transposed block, elements
  static constexpr int64_t kShortRow = 16;  // elements

  View in, out;
  bool clear = false;
  bool add = false;
  bool empty = false;
  bool parallel = false;  // worth several threads
  bool stream = false;    // write around the cache
  int64_t element = 0;    // bytes
  int64_t outer = 1;
  int outer_rank = 0;
  int64_t dim[kMaxRank]{}, in_stride[kMaxRank]{}, out_stride[kMaxRank]{};
  int64_t rows = 1, in_row = 0, out_row = 0;
  int64_t columns = 1, in_column = 1, out_column = 1;
  int64_t unit_rows = 1, unit_columns = 1;
  // If not 0, each row has so many entries, and one column: entry from[j] goes to entry to[j].
  int64_t entries = 0;
  int64_t from[kMostRowEntries]{}, to[kMostRowEntries]{};
  int64_t head = 0, tail = 0;  // bytes of the slot before and after the copy that `clear` zeroes

  // True if rows are contiguous in the input, and columns in the output.
  bool transposes() const {
    return entries == 0 && out_column == 1 && in_row == 1 && in_column != 1 && rows > 1;
  }
};

LayoutProgram compile_layout(const Layout& layout, int64_t slot_bytes);
Status run_layout(const LayoutProgram& program, const Slots& slots);

}  // namespace pullback
