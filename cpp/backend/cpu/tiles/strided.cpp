// Merges the axes of views (once, when a plan is compiled), and copies strided elements row by row.
// If the last axes are short, many of their rows are copied by one call of a kernel.
#include "backend/cpu/tiles/strided.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

template <class T>
void fill(char* out, const char* value, int64_t n) {
  T v;
  std::memcpy(&v, value, sizeof v);
  auto* y = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = v;
}

template <class T>
void gather_row(char* out, const char* in, int64_t stride, int64_t n) {
  auto* y = reinterpret_cast<T*>(out);
  const auto* x = reinterpret_cast<const T*>(in);
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
}

template <class T>
void scatter_row(char* out, const char* in, int64_t stride, int64_t n) {
  auto* y = reinterpret_cast<T*>(out);
  const auto* x = reinterpret_cast<const T*>(in);
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) y[i * stride] = x[i];
}

void copy_row(char* out, const char* in, int64_t element, int64_t stride, int64_t n) {
  if (stride == 1) {
    std::memcpy(out, in, static_cast<size_t>(n * element));
  } else if (stride == 0) {
    fill_elements(out, in, element, n);
  } else if (element >= 4) {
    kernels().rows.gather[element == 8](out, in, stride, n);
  } else if (element == 2) {
    gather_row<uint16_t>(out, in, stride, n);
  } else {
    gather_row<uint8_t>(out, in, stride, n);
  }
}

void write_row(char* out, const char* in, int64_t element, int64_t stride, int64_t n) {
  if (stride == 1) {
    std::memcpy(out, in, static_cast<size_t>(n * element));
  } else if (element == 4) {
    scatter_row<uint32_t>(out, in, stride, n);
  } else if (element == 8) {
    scatter_row<uint64_t>(out, in, stride, n);
  } else if (element == 2) {
    scatter_row<uint16_t>(out, in, stride, n);
  } else {
    scatter_row<uint8_t>(out, in, stride, n);
  }
}

// Calls row(offset, stride, done, count) for each row, or part of a row, of the elements first …
// first+n-1, in order. Requires at least one axis.
template <class Row>
void for_each_row(const Axes& axes, int64_t first, int64_t n, Row&& row) {
  const int last = axes.rank - 1;
  const int64_t length = axes.dim[last];
  const int64_t stride = axes.stride[last];
  int64_t at[kMaxRank];
  int64_t rest = first;
  int64_t offset = 0;  // of the current row
  for (int i = last; i >= 0; --i) {
    at[i] = rest % axes.dim[i];
    rest /= axes.dim[i];
    if (i != last) offset += at[i] * axes.stride[i];
  }
  int64_t column = first % length;
  for (int64_t done = 0; done < n;) {
    const int64_t take = std::min(n - done, length - column);
    row(offset + column * stride, stride, done, take);
    done += take;
    column = 0;
    for (int i = last - 1; i >= 0; --i) {
      offset += axes.stride[i];
      if (++at[i] < axes.dim[i]) break;
      offset -= axes.dim[i] * axes.stride[i];
      at[i] = 0;
    }
  }
}

constexpr int64_t kShortAxis = 16;       // elements
constexpr int64_t kLeastGathered = 128;  // elements for which short rows pay

// The offsets of the entries of the last axes, as many axes as fit in a row.
struct ShortRows {
  int axes = 0;
  int64_t entries = 1;
  int64_t offset[kMostRowEntries] = {0};
};

// For n elements; nullopt if it does not pay.
std::optional<ShortRows> short_rows(const Axes& axes, int64_t n) {
  if (axes.rank < 2 || n < kLeastGathered || axes.dim[axes.rank - 1] >= kShortAxis) {
    return std::nullopt;
  }
  ShortRows rows;
  for (int i = axes.rank - 1; i > 0 && rows.entries * axes.dim[i] <= kMostRowEntries; --i) {
    for (int64_t k = 1; k < axes.dim[i]; ++k) {
      for (int64_t j = 0; j < rows.entries; ++j) {
        rows.offset[k * rows.entries + j] = rows.offset[j] + k * axes.stride[i];
      }
    }
    rows.entries *= axes.dim[i];
    ++rows.axes;
  }
  return rows;
}

constexpr auto kInOrder = [] {
  std::array<int64_t, kMostRowEntries> offset{};
  for (int64_t j = 0; j < kMostRowEntries; ++j) offset[j] = j;
  return offset;
}();

// Calls copy(offset, stride, done, count, skip, entries) for the elements first … first+n-1, in
// order: entries skip … skip+entries-1 of each of `count` rows, which are `stride` apart.
template <class Copy>
void for_each_short_row(const Axes& axes, const ShortRows& rows, int64_t first, int64_t n,
                        Copy&& copy) {
  Axes outer = axes;
  outer.rank -= rows.axes;
  for (int64_t done = 0; done < n;) {
    const int64_t row = (first + done) / rows.entries;
    const int64_t skip = (first + done) % rows.entries;
    const int64_t left = n - done;
    const int64_t whole = left / rows.entries;
    const bool part = skip > 0 || whole == 0;
    const int64_t entries = part ? std::min(rows.entries - skip, left) : rows.entries;
    for_each_row(outer, row, part ? 1 : whole,
                 [&](int64_t offset, int64_t stride, int64_t before, int64_t count) {
                   copy(offset, stride, done + before * rows.entries, count, skip, entries);
                 });
    done += part ? entries : whole * rows.entries;
  }
}

// True if whole rows of a few entries are columns: each entry follows that of the row before.
bool are_columns(const ShortRows& rows, int64_t element, int64_t stride, int64_t entries) {
  return stride == 1 && entries == rows.entries && entries >= 2 && entries <= kMostInterleaved &&
         (element == 4 || element == 8);
}

}  // namespace

void fill_elements(char* out, const char* value, int64_t element, int64_t n) {
  constexpr int64_t kFew = 32;  // a kernel takes longer to start
  if (n >= kFew) {
    kernels().rows.spread[size_index(element)](out, value, nullptr, nullptr, 1, n);
  } else if (element == 4) {
    fill<uint32_t>(out, value, n);
  } else if (element == 8) {
    fill<uint64_t>(out, value, n);
  } else if (element == 2) {
    fill<uint16_t>(out, value, n);
  } else {
    fill<uint8_t>(out, value, n);
  }
}

Axes merged_axes(const View& view) {
  Axes out;
  for (int64_t i = 0; i < view.shape.rank; ++i) {
    const int64_t dim = view.shape[i];
    if (dim == 1) continue;
    const int last = out.rank - 1;
    if (last >= 0 && out.stride[last] == view.strides[i] * dim) {
      out.dim[last] *= dim;
      out.stride[last] = view.strides[i];
    } else {
      out.dim[out.rank] = dim;
      out.stride[out.rank++] = view.strides[i];
    }
  }
  return out;
}

void gather_strided(const Axes& axes, const char* base, int64_t element, int64_t first, int64_t n,
                    char* out) {
  if (axes.rank == 0) return fill_elements(out, base, element, n);
  if (const auto rows = short_rows(axes, n)) {
    const RowCopyKernel copy = kernels().rows.copy[size_index(element)];
    return for_each_short_row(
        axes, *rows, first, n,
        [&](int64_t offset, int64_t stride, int64_t done, int64_t count, int64_t skip,
            int64_t entries) {
          if (are_columns(*rows, element, stride, entries)) {
            const void* columns[kMostInterleaved];
            for (int64_t j = 0; j < entries; ++j) {
              columns[j] = base + (offset + rows->offset[j]) * element;
            }
            kernels().interleaves.interleave[entries - 2][element == 8](out + done * element,
                                                                        columns, count);
            return;
          }
          copy({base + offset * element, stride, out + done * element, rows->entries, count,
                entries, rows->offset + skip, kInOrder.data()});
        });
  }
  for_each_row(axes, first, n, [&](int64_t offset, int64_t stride, int64_t done, int64_t count) {
    copy_row(out + done * element, base + offset * element, element, stride, count);
  });
}

void scatter_strided(const Axes& axes, char* base, int64_t element, int64_t first, int64_t n,
                     const char* in) {
  if (axes.rank == 0) return write_row(base, in, element, 1, n);
  if (const auto rows = short_rows(axes, n)) {
    const RowCopyKernel copy = kernels().rows.copy[size_index(element)];
    return for_each_short_row(
        axes, *rows, first, n,
        [&](int64_t offset, int64_t stride, int64_t done, int64_t count, int64_t skip,
            int64_t entries) {
          copy({in + done * element, rows->entries, base + offset * element, stride, count, entries,
                kInOrder.data(), rows->offset + skip});
        });
  }
  for_each_row(axes, first, n, [&](int64_t offset, int64_t stride, int64_t done, int64_t count) {
    write_row(base + offset * element, in + done * element, element, stride, count);
  });
}

}  // namespace pullback
