// Runs strided copies: transposes, concatenation, slices, embedding; and strided additions.
//
// Rows x columns are cut into units that stay in the cache; a unit runs one of a few loops.
#include "backend/cpu/data/layout_run.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/threads.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pullback {
namespace {

constexpr int64_t kBlock = LayoutProgram::kBlock;
constexpr int64_t kMemcpy = 64;  // bytes from which a call of memcpy pays

// Element offsets and extents of a part of the work.
struct Block {
  int64_t in, out, rows, columns;
};

template <class T, bool add>
void put(T* to, T value) {
  if constexpr (!add) {
    *to = value;
  } else if constexpr (sizeof(T) == 1) {
    *to |= value;  // bool
  } else {
    *to += value;
  }
}

template <class T, bool add>
void copy_row(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t n) {
  if (out_step == 1 && in_step == 1) {
    if (!add && n * static_cast<int64_t>(sizeof(T)) >= kMemcpy) {
      std::memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) put<T, add>(out + i, in[i]);
    }
  } else if (out_step == 1 && in_step == 0) {
    const T value = *in;
    for (int64_t i = 0; i < n; ++i) put<T, add>(out + i, value);
  } else if (out_step == 1 && in_step == -1) {
    for (int64_t i = 0; i < n; ++i) put<T, add>(out + i, in[-i]);
  } else if (out_step == 1) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) put<T, add>(out + i, in[i * in_step]);
  } else {
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) put<T, add>(out + i * out_step, in[i * in_step]);
  }
}

// Row by row, or column by column if rows are short.
template <class T, bool add>
void copy_any(const LayoutProgram& p, const T* in, T* out, int64_t rows, int64_t columns) {
  if (columns < LayoutProgram::kShortRow && columns < rows) {
    for (int64_t c = 0; c < columns; ++c) {
      copy_row<T, add>(in + c * p.in_column, p.in_row, out + c * p.out_column, p.out_row, rows);
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      copy_row<T, add>(in + r * p.in_row, p.in_column, out + r * p.out_row, p.out_column, columns);
    }
  }
}

// A square of 16 bytes per side, in vector registers. Rows are contiguous in the input, columns in
// the output.
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

// Writes with non-temporal stores if the compiler has them and the memory is aligned, so that whole
// lines are not read first.
void stream_row(const char* from, char* to, int64_t bytes) {
#if defined(__SSE2__)
  if (((reinterpret_cast<uintptr_t>(to) | static_cast<uintptr_t>(bytes)) & 15) == 0) {
    for (int64_t i = 0; i < bytes; i += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
    return;
  }
#endif
  // The block is filled by loops that the analyzer does not follow.
  // NOLINTNEXTLINE(clang-analyzer-unix.cstring.UninitializedRead)
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

// Makes streamed data visible to other threads.
void finish_streams(const LayoutProgram& p) {
#if defined(__SSE2__)
  if (p.stream) _mm_sfence();
#endif
}

template <class T>
void write_block(const LayoutProgram& p, const T* block, T* out, int64_t rows, int64_t columns) {
  const int64_t bytes = columns * static_cast<int64_t>(sizeof(T));
  for (int64_t r = 0; r < rows; ++r) {
    const auto* from = reinterpret_cast<const char*>(block + r * kBlock);
    auto* to = reinterpret_cast<char*>(out + r * p.out_row);
    if (p.stream) {
      stream_row(from, to, bytes);
    } else {
      // NOLINTNEXTLINE(clang-analyzer-unix.cstring.UninitializedRead)
      std::memcpy(to, from, static_cast<size_t>(bytes));
    }
  }
}

// Goes through a block in the first-level cache, so that several successive lines are read and
// written together: lines far apart evict each other if their distance is a power of two.
template <class T>
void transpose_block(const LayoutProgram& p, const T* in, T* out, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = 16 / sizeof(T);
  alignas(64) T block[kBlock * kBlock];
  const bool direct = p.columns <= LayoutProgram::kShortRow;
  T* to = direct ? out : block;
  const int64_t step = direct ? p.out_row : kBlock;
  const int64_t even_rows = rows / kSide * kSide;
  const int64_t even_columns = columns / kSide * kSide;
  for (int64_t c = 0; c < even_columns; c += kSide) {
    for (int64_t r = 0; r < even_rows; r += kSide) {
      transpose_square(in + c * p.in_column + r, p.in_column, to + r * step + c, step);
    }
    for (int64_t i = c; i < c + kSide; ++i) {
      for (int64_t r = even_rows; r < rows; ++r) to[r * step + i] = in[i * p.in_column + r];
    }
  }
  for (int64_t c = even_columns; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[r * step + c] = in[c * p.in_column + r];
  }
  if (!direct) write_block(p, block, out, rows, columns);
}

// In blocks that stay in the first-level cache, because a kernel may go through them several times.
template <class T>
void copy_rows(const LayoutProgram& p, const T* in, T* out, int64_t rows) {
  constexpr int64_t kBlockRows = 128;
  const RowCopyKernel copy = kernels().rows.copy[size_index(sizeof(T))];
  for (int64_t r = 0; r < rows; r += kBlockRows) {
    copy({in + r * p.in_row, p.in_row, out + r * p.out_row, p.out_row,
          std::min(kBlockRows, rows - r), p.entries, p.from, p.to});
  }
}

template <class T, bool add>
void copy_unit(const LayoutProgram& p, const T* in, T* out, const Block& block) {
  in += block.in;
  out += block.out;
  if (p.entries > 0) return copy_rows(p, in, out, block.rows);
  if constexpr (!add && sizeof(T) >= 4) {
    if (p.transposes()) {
      for (int64_t c = 0; c < block.columns; c += kBlock) {
        for (int64_t r = 0; r < block.rows; r += kBlock) {
          transpose_block<T>(p, in + r + c * p.in_column, out + r * p.out_row + c,
                             std::min(kBlock, block.rows - r), std::min(kBlock, block.columns - c));
        }
      }
      return;
    }
  }
  copy_any<T, add>(p, in, out, block.rows, block.columns);
}

// Runs the units first … last-1; those of one band are successive.
template <class T, bool add>
void copy_units(const LayoutProgram& p, const T* in, T* out, int64_t first, int64_t last) {
  const int64_t strips = ceil_div(p.columns, p.unit_columns);
  const int64_t bands = ceil_div(p.rows, p.unit_rows);
  int64_t column = first % strips;
  int64_t row = first / strips % bands;
  int64_t rest = first / strips / bands;
  int64_t at[kMaxRank];
  int64_t in_offset = 0;
  int64_t out_offset = 0;
  for (int i = p.outer_rank - 1; i >= 0; --i) {
    at[i] = rest % p.dim[i];
    rest /= p.dim[i];
    in_offset += at[i] * p.in_stride[i];
    out_offset += at[i] * p.out_stride[i];
  }
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t r = row * p.unit_rows;
    const int64_t c = column * p.unit_columns;
    copy_unit<T, add>(
        p, in, out,
        {in_offset + r * p.in_row + c * p.in_column, out_offset + r * p.out_row + c * p.out_column,
         std::min(p.unit_rows, p.rows - r), std::min(p.unit_columns, p.columns - c)});
    if (++column < strips) continue;
    column = 0;
    if (++row < bands) continue;
    row = 0;
    for (int i = p.outer_rank - 1; i >= 0; --i) {
      in_offset += p.in_stride[i];
      out_offset += p.out_stride[i];
      if (++at[i] < p.dim[i]) break;
      in_offset -= p.dim[i] * p.in_stride[i];
      out_offset -= p.dim[i] * p.out_stride[i];
      at[i] = 0;
    }
  }
}

template <class T, bool add>
void copy(const LayoutProgram& p, const char* in, char* out) {
  if (p.outer == 1 && p.rows <= p.unit_rows && p.columns <= p.unit_columns) {
    copy_unit<T, add>(p, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out),
                      {0, 0, p.rows, p.columns});
    return finish_streams(p);
  }
  const int64_t units =
      p.outer * ceil_div(p.rows, p.unit_rows) * ceil_div(p.columns, p.unit_columns);
  const int64_t per_chunk =
      chunk_size(units, std::min(p.unit_rows, p.rows) * std::min(p.unit_columns, p.columns) *
                            std::max<int64_t>(p.entries, 1));
  parallel_for(ceil_div(units, per_chunk), p.parallel, [&](int64_t chunk) {
    copy_units<T, add>(p, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out),
                       chunk * per_chunk, std::min((chunk + 1) * per_chunk, units));
    finish_streams(p);
  });
}

void add_to(const LayoutProgram& p, const char* in, char* out) {
  switch (p.out.dtype) {
    case DType::Bool:
      return copy<uint8_t, true>(p, in, out);
    case DType::Int32:
      return copy<uint32_t, true>(p, in, out);  // unsigned: wraps
    case DType::Int64:
    case DType::UInt64:
      return copy<uint64_t, true>(p, in, out);
    case DType::Float32:
      return copy<float, true>(p, in, out);
    case DType::Float64:
      return copy<double, true>(p, in, out);
    default:  // widened by the builders
      return;
  }
}

// Zeroes in parallel: touching new memory costs as much as writing it.
void zero(char* out, int64_t bytes, bool parallel) {
  constexpr int64_t kBytes = 256 * 1024;
  parallel_for(ceil_div(bytes, kBytes), parallel, [&](int64_t chunk) {
    std::memset(out + chunk * kBytes, 0,
                static_cast<size_t>(std::min(kBytes, bytes - chunk * kBytes)));
  });
}

}  // namespace

Status run_layout(const LayoutProgram& p, const Slots& slots) {
  const int64_t whole = slots.slot_bytes(p.out.slot);
  if (whole == 0) return {};  // memset is undefined for a null pointer, even with size 0
  if (p.clear) {
    zero(slots.at(p.out.slot), p.head, p.parallel);
    zero(slots.at(p.out.slot) + whole - p.tail, p.tail, p.parallel);
  }
  if (p.empty) return {};
  const char* in = slots.at(p.in);
  char* out = slots.at(p.out);
  if (in == out) return {};  // a copy of a whole argument whose memory the output took
  if (p.add) {
    add_to(p, in, out);
  } else if (p.element == 4) {
    copy<uint32_t, false>(p, in, out);
  } else if (p.element == 8) {
    copy<uint64_t, false>(p, in, out);
  } else if (p.element == 2) {
    copy<uint16_t, false>(p, in, out);
  } else {
    copy<uint8_t, false>(p, in, out);
  }
  return {};
}

}  // namespace pullback
