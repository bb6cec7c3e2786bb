// Gather and ScatterAdd. Indices are checked before anything is written, so a bad one leaves the
// output as it was; afterwards no index is looked at twice.
//
// ScatterAdd gives the same bits for any number of threads: work is split by where it is written,
// never by the index list, so each entry receives its addends in index order.
#include "backend/cpu/index_run.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/threads.h"

namespace pullback {
namespace {

template <class I>
Status check(const I* indices, int64_t n, int64_t bound) {
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) bad |= (indices[i] >= bound) | (indices[i] < -bound);
  if (!bad) return {};
  for (int64_t i = 0; i < n; ++i) {
    if (indices[i] >= bound || indices[i] < -bound) {
      Status out = failure(Problem::IndexOutOfRange);
      out.detail = indices[i];
      out.bound = bound;
      return out;
    }
  }
  return {};
}

template <class I>
int64_t position(I index, int64_t axis) {
  return index < 0 ? index + axis : index;
}

template <class T, class I>
void gather_elements(const T* in, const I* indices, T* out, int64_t n, int64_t axis) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[position(indices[i], axis)];
}

template <class I>
Status gather(const Gather& g, const Slots& slots) {
  const auto* indices = reinterpret_cast<const I*>(slots.at(g.indices));
  const int64_t n = g.indices.shape.size();
  const Status checked = check(indices, n, g.axis);
  if (!checked || g.outer * n * g.inner == 0) return checked;
  const char* in = slots.at(g.in);
  char* out = slots.at(g.out);
  const int64_t element = size_of(g.in.dtype);
  const int64_t row = g.inner * element;
  const int64_t rows = g.outer * n;
  const int64_t per_chunk = chunk_of(rows, g.inner);
  parallel_for(ceil_div(rows, per_chunk), rows * row > 256 * 1024, [&](int64_t chunk) {
    int64_t r = chunk * per_chunk;
    const int64_t end = std::min(r + per_chunk, rows);
    while (r < end) {
      const int64_t o = r / n;
      const int64_t first = r - o * n;
      const int64_t take = std::min(end - r, n - first);
      const char* source = in + o * g.axis * row;
      char* target = out + r * row;
      if (row == 4) {
        gather_elements(reinterpret_cast<const uint32_t*>(source), indices + first,
                        reinterpret_cast<uint32_t*>(target), take, g.axis);
      } else if (row == 8) {
        gather_elements(reinterpret_cast<const uint64_t*>(source), indices + first,
                        reinterpret_cast<uint64_t*>(target), take, g.axis);
      } else {
        for (int64_t i = 0; i < take; ++i) {
          std::memcpy(target + i * row, source + position(indices[first + i], g.axis) * row,
                      static_cast<size_t>(row));
        }
      }
      r += take;
    }
  });
  return {};
}

// Columns left … right-1 of outer block o; entries low … high-1 of the axis.
struct Region {
  int64_t o, left, right, low, high;
};

template <class T, class Sum, class I>
void scatter_region(const ScatterAdd& s, const T* in, const I* indices, Sum* out, int64_t n,
                    const Region& region) {
  for (int64_t i = 0; i < n; ++i) {
    if (i % 65536 == 0 && stop_requested()) return;
    const int64_t to = position(indices[i], s.axis);
    if (to < region.low || to >= region.high) continue;
    const T* x = in + (region.o * n + i) * s.inner;
    Sum* y = out + (region.o * s.axis + to) * s.inner;
    for (int64_t j = region.left; j < region.right; ++j) {
      if constexpr (sizeof(T) == 1) {
        y[j] |= x[j];
      } else {
        y[j] += static_cast<Sum>(x[j]);
      }
    }
  }
}

// Splits by outer block, then by columns where there are many, else by entries of the axis: then
// each part reads all indices and takes its own.
template <class T, class Sum, class I>
void scatter(const ScatterAdd& s, const T* in, const I* indices, Sum* out, int64_t n) {
  constexpr int64_t kParts = 8;
  constexpr int64_t kColumns = 64;
  const bool worth = s.outer * n * s.inner > 128 * 1024;
  const bool by_columns = s.inner >= 2 * kColumns;
  const int64_t parts = !worth || s.outer >= kParts ? 1
                        : by_columns                ? std::min(kParts, s.inner / kColumns)
                                                    : std::min(kParts, s.axis);
  const int64_t columns = by_columns ? ceil_div(s.inner, parts) : s.inner;
  const int64_t entries = by_columns ? s.axis : ceil_div(s.axis, parts);
  parallel_for(s.outer * parts, worth, [&](int64_t unit) {
    const int64_t part = unit % parts;
    Region region{unit / parts, 0, s.inner, 0, s.axis};
    if (by_columns) {
      region.left = std::min(part * columns, s.inner);
      region.right = std::min(region.left + columns, s.inner);
    } else {
      region.low = part * entries;
      region.high = std::min(region.low + entries, s.axis);
    }
    scatter_region(s, in, indices, out, n, region);
  });
}

template <class T, class I>
Status scatter_add(const ScatterAdd& s, const Slots& slots) {
  const auto* indices = reinterpret_cast<const I*>(slots.at(s.indices));
  const auto* in = reinterpret_cast<const T*>(slots.at(s.in));
  auto* out = reinterpret_cast<T*>(slots.at(s.out));
  const int64_t n = s.indices.shape.size();
  const int64_t size = s.outer * s.axis * s.inner;
  const Status checked = check(indices, n, s.axis);
  if (!checked || size == 0) return checked;
  if constexpr (std::is_same_v<T, float>) {
    // More addends than entries: many meet in one, and float32 would lose them.
    if (n > s.axis) {
      const StepMemory memory(size * 8);
      if (!memory.data()) return failure(Problem::Memory);
      auto* sums = reinterpret_cast<double*>(memory.data());
      std::fill_n(sums, size, 0.0);
      scatter(s, in, indices, sums, n);
      for (int64_t i = 0; i < size; ++i) out[i] = static_cast<float>(sums[i]);
      return {};
    }
  }
  std::fill_n(out, size, T(0));
  scatter(s, in, indices, out, n);
  return {};
}

template <class I>
Status scatter_add_of(const ScatterAdd& s, const Slots& slots) {
  switch (s.out.dtype) {
    case DType::Bool:
      return scatter_add<uint8_t, I>(s, slots);
    case DType::Int32:
      return scatter_add<uint32_t, I>(s, slots);  // unsigned: wraps
    case DType::Int64:
      return scatter_add<uint64_t, I>(s, slots);
    case DType::Float32:
      return scatter_add<float, I>(s, slots);
    default:
      return scatter_add<double, I>(s, slots);
  }
}

}  // namespace

Status run_gather(const Gather& g, const Slots& slots) {
  return g.indices.dtype == DType::Int32 ? gather<int32_t>(g, slots) : gather<int64_t>(g, slots);
}

Status run_scatter_add(const ScatterAdd& s, const Slots& slots) {
  return s.indices.dtype == DType::Int32 ? scatter_add_of<int32_t>(s, slots)
                                         : scatter_add_of<int64_t>(s, slots);
}

}  // namespace pullback
