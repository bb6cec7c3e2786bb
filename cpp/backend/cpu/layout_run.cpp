// Strided copies: transposes, concatenation, slices, embedding.
//
// The axes are sorted by the stride of the output and merged where both sides allow it; then a copy
// is one of three loops: rows that are contiguous on both sides, a 2-D transpose in blocks that fit
// the cache (one axis is contiguous in the output, another in the input), or single elements.
#include "backend/cpu/layout_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kBlock = 32;               // side of a transposed block, elements
constexpr int64_t kPieceBytes = 256 * 1024;  // of one long contiguous copy

struct Axis {
  int64_t dim, in, out;
};

// Element offsets of position `index` of the axes that are looped over outside.
struct Offsets {
  int64_t in = 0, out = 0;
};
Offsets offsets_at(const LayoutProgram& p, int64_t index) {
  Offsets at;
  for (int i = p.outer_rank - 1; i >= 0; --i) {
    const int64_t position = index % p.dim[i];
    index /= p.dim[i];
    at.in += position * p.in_stride[i];
    at.out += position * p.out_stride[i];
  }
  return at;
}

void copy_rows(const LayoutProgram& p, const char* in, char* out) {
  const int64_t row = p.columns * p.element;
  const int64_t piece = std::min(row, kPieceBytes);
  const int64_t pieces = ceil_div(row, piece);
  const int64_t units = p.outer * pieces;
  const int64_t per_chunk =
      std::max(ceil_div(units, kChunks), std::max<int64_t>(1, 64 * 1024 / piece));
  parallel_for(ceil_div(units, per_chunk), p.worth, [&](int64_t chunk) {
    const int64_t end = std::min((chunk + 1) * per_chunk, units);
    for (int64_t unit = chunk * per_chunk; unit < end; ++unit) {
      const Offsets at = offsets_at(p, unit / pieces);
      const int64_t from = unit % pieces * piece;
      std::memcpy(out + at.out * p.element + from, in + at.in * p.element + from,
                  static_cast<size_t>(std::min(piece, row - from)));
    }
  });
}

// rows x columns, any strides.
template <class T>
void copy_block(const T* in, int64_t in_row, int64_t in_column, T* out, int64_t out_row,
                int64_t out_column, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      out[r * out_row + c * out_column] = in[r * in_row + c * in_column];
    }
  }
}

// A square of 16 bytes a side, held in vector registers: rows are contiguous in the input, columns
// in the output.
void transpose_square(const uint32_t* in, int64_t in_column, uint32_t* out, int64_t out_row) {
  using Vector [[gnu::vector_size(16)]] = uint32_t;
  Vector v[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&v[i], in + i * in_column, 16);
  const Vector a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
  const Vector b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
  const Vector c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
  const Vector d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
  v[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  v[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  v[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
  for (int i = 0; i < 4; ++i) std::memcpy(out + i * out_row, &v[i], 16);
}
void transpose_square(const uint64_t* in, int64_t in_column, uint64_t* out, int64_t out_row) {
  using Vector [[gnu::vector_size(16)]] = uint64_t;
  Vector v[2];
  for (int i = 0; i < 2; ++i) std::memcpy(&v[i], in + i * in_column, 16);
  const Vector a = __builtin_shufflevector(v[0], v[1], 0, 2);
  const Vector b = __builtin_shufflevector(v[0], v[1], 1, 3);
  std::memcpy(out, &a, 16);
  std::memcpy(out + out_row, &b, 16);
}

template <class T>
void transpose_block(const T* in, int64_t in_column, T* out, int64_t out_row, int64_t rows,
                     int64_t columns) {
  constexpr int64_t kSide = sizeof(T) == 1 ? 1 : 16 / sizeof(T);
  const int64_t even_rows = rows / kSide * kSide;
  const int64_t even_columns = columns / kSide * kSide;
  if constexpr (kSide > 1) {
    for (int64_t r = 0; r < even_rows; r += kSide) {
      for (int64_t c = 0; c < even_columns; c += kSide) {
        transpose_square(in + c * in_column + r, in_column, out + r * out_row + c, out_row);
      }
    }
    copy_block<T>(in + even_columns * in_column, 1, in_column, out + even_columns, out_row, 1,
                  even_rows, columns - even_columns);
    copy_block<T>(in + even_rows, 1, in_column, out + even_rows * out_row, out_row, 1,
                  rows - even_rows, columns);
  } else {
    copy_block<T>(in, 1, in_column, out, out_row, 1, rows, columns);
  }
}

template <class T>
void copy_blocks(const LayoutProgram& p, const char* in_bytes, char* out_bytes) {
  const auto* in = reinterpret_cast<const T*>(in_bytes);
  auto* out = reinterpret_cast<T*>(out_bytes);
  const int64_t bands = ceil_div(p.rows, kBlock);
  const int64_t units = p.outer * bands;
  const int64_t band = kBlock * p.columns * p.element;
  const int64_t per_chunk = std::max(ceil_div(units, kChunks),
                                     std::max<int64_t>(1, 64 * 1024 / std::max<int64_t>(band, 1)));
  parallel_for(ceil_div(units, per_chunk), p.worth, [&](int64_t chunk) {
    const int64_t end = std::min((chunk + 1) * per_chunk, units);
    for (int64_t unit = chunk * per_chunk; unit < end; ++unit) {
      const Offsets at = offsets_at(p, unit / bands);
      const int64_t row = unit % bands * kBlock;
      const int64_t rows = std::min(kBlock, p.rows - row);
      for (int64_t column = 0; column < p.columns; column += kBlock) {
        const T* from = in + at.in + row * p.in_row + column * p.in_column;
        T* to = out + at.out + row * p.out_row + column * p.out_column;
        const int64_t columns = std::min(kBlock, p.columns - column);
        if (p.out_column == 1 && p.in_row == 1) {
          transpose_block<T>(from, p.in_column, to, p.out_row, rows, columns);
        } else {
          copy_block<T>(from, p.in_row, p.in_column, to, p.out_row, p.out_column, rows, columns);
        }
      }
    }
  });
}

}  // namespace

LayoutProgram compile_layout(const Layout& layout) {
  LayoutProgram p;
  p.in = layout.in;
  p.out = layout.out;
  p.clear = layout.clear;
  p.element = size_of(layout.out.dtype);
  p.worth = layout.out.shape.size() * p.element > 512 * 1024;
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
  rank = merged;

  // The last axis is the columns; the rows of a transpose are the axis that the input has
  // contiguous.
  if (rank > 0) {
    const Axis column = axes[--rank];
    p.columns = column.dim;
    p.in_column = column.in;
    p.out_column = column.out;
    p.contiguous = column.in == 1 && column.out == 1;
  } else {
    p.contiguous = true;
  }
  if (!p.contiguous && rank > 0) {
    int row = rank - 1;
    for (int i = 0; i < rank; ++i) {
      if (std::abs(axes[i].in) < std::abs(axes[row].in) && axes[i].in != 0) row = i;
    }
    p.rows = axes[row].dim;
    p.in_row = axes[row].in;
    p.out_row = axes[row].out;
    for (int i = row; i + 1 < rank; ++i) axes[i] = axes[i + 1];
    --rank;
  }
  p.outer_rank = rank;
  for (int i = 0; i < rank; ++i) {
    p.dim[i] = axes[i].dim;
    p.in_stride[i] = axes[i].in;
    p.out_stride[i] = axes[i].out;
    p.outer *= axes[i].dim;
  }
  return p;
}

Status run_layout(const LayoutProgram& p, const Slots& slots) {
  const int64_t whole = slots.slot_bytes(p.out.slot);
  if (whole == 0) return {};  // without memory, not even an empty memset is allowed
  if (p.clear) std::memset(slots.at(p.out.slot), 0, static_cast<size_t>(whole));
  if (p.empty) return {};
  const char* in = slots.at(p.in);
  char* out = slots.at(p.out);
  if (p.contiguous) {
    copy_rows(p, in, out);
  } else if (p.element == 4) {
    copy_blocks<uint32_t>(p, in, out);
  } else if (p.element == 8) {
    copy_blocks<uint64_t>(p, in, out);
  } else {
    copy_blocks<uint8_t>(p, in, out);
  }
  return {};
}

}  // namespace pullback
