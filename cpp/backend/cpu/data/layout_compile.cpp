// Chooses the loops of a strided copy.
//
// Axes are sorted by the stride of the output and merged if both sides allow it. The last axis is
// the columns; of the others, the one with the smallest stride in the input is the rows. If the
// last axes are short, their entries form one row, and many such rows are copied by one call of a
// kernel.
#include <algorithm>
#include <cstdlib>

#include "backend/cpu/data/layout_run.h"

namespace pullback {
namespace {

constexpr int64_t kStream = 8 << 20;   // bytes that stay in no cache
constexpr int64_t kUnit = 64 * 1024;   // elements of a unit that is not transposed
constexpr int64_t kLeastCopied = 128;  // elements for which short rows pay

struct Axis {
  int64_t dim, in, out;
};

// Takes the columns and the rows from the axes, and returns the number of other axes.
int take_columns(Axis* axes, int rank, LayoutProgram* p) {
  if (rank > 0) {
    const Axis column = axes[--rank];
    p->columns = column.dim;
    p->in_column = column.in;
    p->out_column = column.out;
  }
  if (rank == 0) return 0;
  int row = rank - 1;
  for (int i = 0; i < rank; ++i) {
    if (std::abs(axes[i].in) < std::abs(axes[row].in) && axes[i].in != 0) row = i;
  }
  const auto take_rows = [&](const Axis& rows) {
    p->rows = rows.dim;
    p->in_row = rows.in;
    p->out_row = rows.out;
  };
  take_rows(axes[row]);
  if (p->columns >= LayoutProgram::kShortRow || p->add || p->out.shape.size() < kLeastCopied ||
      (p->transposes() && p->rows >= LayoutProgram::kShortRow)) {
    for (int i = row; i + 1 < rank; ++i) axes[i] = axes[i + 1];
    return rank - 1;
  }
  p->entries = 1;
  for (++rank; rank > 1 && p->entries * axes[rank - 1].dim <= kMostRowEntries; --rank) {
    const Axis& axis = axes[rank - 1];
    for (int64_t k = 1; k < axis.dim; ++k) {
      for (int64_t j = 0; j < p->entries; ++j) {
        p->from[k * p->entries + j] = p->from[j] + k * axis.in;
        p->to[k * p->entries + j] = p->to[j] + k * axis.out;
      }
    }
    p->entries *= axis.dim;
  }
  p->columns = 1;
  take_rows(axes[--rank]);
  return rank;
}

}  // namespace

LayoutProgram compile_layout(const Layout& layout, int64_t slot_bytes) {
  LayoutProgram p;
  p.in = layout.in;
  p.out = layout.out;
  p.clear = layout.clear;
  p.add = layout.add && !layout.clear;
  p.element = size_of(layout.out.dtype);
  p.parallel = (p.clear ? slot_bytes : layout.out.shape.size() * p.element) > 512 * 1024;
  p.empty = layout.out.shape.size() == 0;

  Axis axes[kMaxRank];
  int rank = 0;
  for (int64_t i = 0; i < layout.out.shape.rank; ++i) {
    if (layout.out.shape[i] == 1) continue;
    axes[rank++] = {layout.out.shape[i], layout.in.strides[i], layout.out.strides[i]};
  }
  std::stable_sort(axes, axes + rank,
                   [](const Axis& a, const Axis& b) { return std::abs(a.out) > std::abs(b.out); });
  int merged = 0;
  for (int i = 0; i < rank; ++i) {
    Axis* last = merged ? &axes[merged - 1] : nullptr;
    if (last && last->in == axes[i].in * axes[i].dim && last->out == axes[i].out * axes[i].dim) {
      *last = {last->dim * axes[i].dim, axes[i].in, axes[i].out};
    } else {
      axes[merged++] = axes[i];
    }
  }
  rank = take_columns(axes, merged, &p);
  p.outer_rank = rank;
  for (int i = 0; i < rank; ++i) {
    p.dim[i] = axes[i].dim;
    p.in_stride[i] = axes[i].in;
    p.out_stride[i] = axes[i].out;
    p.outer *= axes[i].dim;
  }
  if (p.transposes()) {
    p.unit_rows = 4 * LayoutProgram::kBlock;
    p.unit_columns = 4 * LayoutProgram::kBlock;
    p.stream = p.out.shape.size() * p.element > kStream;
  } else {
    p.unit_columns = std::min(p.columns, kUnit);
    const int64_t row = std::max(p.unit_columns, p.entries);
    p.unit_rows = std::max<int64_t>(1, kUnit / std::max<int64_t>(row, 1));
  }
  // An area that the copy covers without gaps need not be zeroed.
  const bool covers = p.rows == 1 && p.outer == 1 && p.out_column == 1 && !p.empty;
  p.head = covers ? p.out.offset * p.element : slot_bytes;
  p.tail = slot_bytes - p.head - (covers ? p.columns * p.element : 0);
  return p;
}

}  // namespace pullback
