// Runs Gather and ScatterAdd. All indices are checked before anything is written, and not again.
//
// ScatterAdd returns the same bits for any number of threads: work is divided by destination, never
// by the list of indices, so each entry receives its addends in the order of the indices.
#include "backend/cpu/data/index_run.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/cpu/data/last_equal.h"
#include "backend/cpu/kernels/table.h"
#include "base/index_bounds.h"
#include "base/threads.h"

namespace pullback {
namespace {

template <class I>
Status check(const I* indices, int64_t n, int64_t bound) {
  constexpr int64_t kPart = 64 * 1024;
  std::atomic<bool> bad{false};
  parallel_for(ceil_div(n, kPart), n > 256 * 1024, [&](int64_t part) {
    const int64_t begin = part * kPart;
    if (any_outside(indices + begin, std::min(kPart, n - begin), -bound, bound)) {
      bad.store(true, std::memory_order_relaxed);
    }
  });
  if (!bad.load()) return {};
  Status out = failure(Problem::IndexOutOfRange);
  out.detail = first_outside(indices, n, -bound, bound);
  out.bound = bound;
  return out;
}

template <class I>
int64_t position(I index, int64_t axis) {
  return index < 0 ? index + axis : index;
}

// --- Gather

template <class T, class I>
void gather_elements(const T* in, int64_t stride, const I* indices, T* out, int64_t n,
                     int64_t axis) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = in[position(indices[i], axis)];
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = in[position(indices[i], axis) * stride];
  }
}

// Rows are at random places, so the next ones are prefetched.
constexpr int64_t kAhead = 8;

// For rows too short for a call of memcpy.
void copy_bytes(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kStep = 16;
  if (bytes < kStep) {
    for (int64_t i = 0; i < bytes; i += 4) std::memcpy(to + i, from + i, 4);
    return;
  }
  for (int64_t i = 0; i + kStep < bytes; i += kStep) std::memcpy(to + i, from + i, kStep);
  std::memcpy(to + bytes - kStep, from + bytes - kStep, kStep);
}

// Copies rows of `inner` elements that are `stride` elements apart in the input.
template <class T, class I>
void gather_rows(const T* in, int64_t stride, int64_t inner, int64_t inner_stride, const I* indices,
                 T* out, int64_t n, int64_t axis) {
  const int64_t bytes = inner * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < n; ++i, out += inner) {
    const T* row = in + position(indices[i], axis) * stride;
    if (i + kAhead < n) __builtin_prefetch(in + position(indices[i + kAhead], axis) * stride);
    if (inner_stride == 1 && sizeof(T) >= 4 && bytes <= 256) {
      copy_bytes(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(row), bytes);
    } else if (inner_stride == 1) {
      std::memcpy(out, row, static_cast<size_t>(bytes));
    } else {
      for (int64_t j = 0; j < inner; ++j) out[j] = row[j * inner_stride];
    }
  }
}

template <class T, class I>
Status gather(const Gather& g, const Slots& slots) {
  const auto* indices = reinterpret_cast<const I*>(slots.at(g.indices));
  const int64_t n = g.indices.shape.size();
  const Status checked = check(indices, n, g.axis);
  if (!checked || g.outer * n * g.inner == 0) return checked;
  const T* in = reinterpret_cast<const T*>(slots.at(g.in));
  T* out = reinterpret_cast<T*>(slots.at(g.out));
  const Strides& stride = g.in.strides;
  const int64_t rows = g.outer * n;
  const int64_t per_chunk = chunk_size(rows, g.inner);
  parallel_for(ceil_div(rows, per_chunk), rows * g.inner > 64 * 1024, [&](int64_t chunk) {
    int64_t r = chunk * per_chunk;
    const int64_t end = std::min(r + per_chunk, rows);
    while (r < end) {
      const int64_t o = r / n;
      const int64_t first = r - o * n;
      const int64_t take = std::min(end - r, n - first);
      const T* from = in + o * stride[0];
      if (g.inner == 1) {
        gather_elements(from, stride[1], indices + first, out + r, take, g.axis);
      } else {
        gather_rows(from, stride[1], g.inner, stride[2], indices + first, out + r * g.inner, take,
                    g.axis);
      }
      r += take;
    }
  });
  return {};
}

template <class T>
Status gather_of(const Gather& g, const Slots& slots) {
  return g.indices.dtype == DType::Int32 ? gather<T, int32_t>(g, slots)
                                         : gather<T, int64_t>(g, slots);
}

// --- ScatterAdd

// Combines one entry, by kind of update. In min and max a NaN has priority over numbers.
template <Update update, class T, class Sum>
void combine(Sum* to, T from) {
  const Sum value = static_cast<Sum>(from);
  if constexpr (update == Update::Set) {
    *to = value;
  } else if constexpr (update == Update::Add) {
    if constexpr (sizeof(T) == 1) {
      *to |= value;  // bool
    } else {
      *to += value;
    }
  } else if constexpr (update == Update::Multiply) {
    *to *= value;
  } else if constexpr (update == Update::Max) {
    if (value > *to || value != value) *to = value;
  } else {
    if (value < *to || value != value) *to = value;
  }
}

// Columns left … right-1 of outer block o, and entries low … high-1 of the axis.
struct Region {
  int64_t o, left, right, low, high;
};

template <Update update, class T, class Sum>
void combine_row(const T* x, int64_t step, Sum* y, int64_t left, int64_t right) {
  if (step == 1) {
    for (int64_t j = left; j < right; ++j) combine<update, T>(y + j, x[j]);
  } else {
    for (int64_t j = left; j < right; ++j) combine<update, T>(y + j, x[j * step]);
  }
}

// The parts of rows that a region reads are not contiguous, so the processor does not prefetch
// them.
template <class T>
void prefetch_row(const T* x, int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t j = 0; j < std::min(count, 4 * kLine); j += kLine) __builtin_prefetch(x + j);
}

template <Update update, class T, class Sum, class I>
void scatter_all(const ScatterAdd& s, const T* in, const I* indices, Sum* out, int64_t n,
                 const Region& region) {
  const Strides& stride = s.in.strides;
  constexpr int64_t kNear = 256 * 1024;  // bytes that stay in the cache anyway
  const bool partial = region.right - region.left < s.inner && stride[2] == 1;
  const bool far = s.axis * s.inner * static_cast<int64_t>(sizeof(Sum)) > kNear;
  for (int64_t i = 0; i < n; ++i) {
    if (i % 65536 == 0 && stop_requested()) return;
    if (far && i + kAhead < n) {
      __builtin_prefetch(out + position(indices[i + kAhead], s.axis) * s.inner + region.left, 1);
    }
    if (partial && i + kAhead < n) {
      prefetch_row(in + (i + kAhead) * stride[1] + region.left, region.right - region.left);
    }
    Sum* y = out + position(indices[i], s.axis) * s.inner;
    if (s.inner == 1) {
      combine<update, T>(y, in[i * stride[1]]);
    } else {
      combine_row<update, T>(in + i * stride[1], stride[2], y, region.left, region.right);
    }
  }
}

// First collects the positions inside the region, some at a time: a branch per index would be
// mispredicted half of the time.
template <Update update, class T, class Sum, class I>
void scatter_region(const ScatterAdd& s, const T* in, const I* indices, Sum* out, int64_t n,
                    const Region& region) {
  constexpr int64_t kSome = 512;
  const Strides& stride = s.in.strides;
  in += region.o * stride[0];
  out += region.o * s.axis * s.inner;
  const bool adds_rows = update == Update::Add && std::is_floating_point_v<T> && stride[2] == 1 &&
                         region.right - region.left >= 4;
  const bool whole = region.high - region.low == s.axis;
  if (whole && !adds_rows) {
    return scatter_all<update, T>(s, in, indices, out, n, region);
  }
  int64_t from[kSome];
  int64_t to[kSome];
  for (int64_t first = 0; first < n; first += kSome) {
    if (first % (128 * kSome) == 0 && stop_requested()) return;
    const int64_t last = std::min(first + kSome, n);
    int64_t count = whole ? last - first : 0;
    for (int64_t k = 0; k < count; ++k) {
      from[k] = first + k;
      to[k] = position(indices[first + k], s.axis);
    }
    for (int64_t i = first; i < last && !whole; ++i) {
      const int64_t at = position(indices[i], s.axis);
      from[count] = i;
      to[count] = at;
      count += (at >= region.low) & (at < region.high);
    }
    if (adds_rows) {
      constexpr int kWhich = sizeof(T) == 8 ? 1 : sizeof(Sum) == 8 ? 2 : 0;
      kernels().rows.add_rows[kWhich]({in + region.left, stride[1], out + region.left, s.inner,
                                       region.right - region.left, from, to, count});
      continue;
    }
    for (int64_t k = 0; k < count; ++k) {
      if (k + kAhead < count) {
        __builtin_prefetch(out + to[k + kAhead] * s.inner + region.left, 1);
        if (stride[2] == 1) prefetch_row(in + from[k + kAhead] * stride[1], s.inner);
      }
      combine_row<update, T>(in + from[k] * stride[1], stride[2], out + to[k] * s.inner,
                             region.left, region.right);
    }
  }
}

// Divides the work by outer block. If there are few blocks, by columns, in whole cache lines. If
// rows are shorter than two lines, by entries of the axis; each part then reads all indices. Rows
// of a few numbers are not worth that. (In every case an entry receives its addends in the order of
// the indices.)
template <Update update, class T, class Sum, class I>
void scatter_parts(const ScatterAdd& s, const T* in, const I* indices, Sum* out, int64_t n) {
  constexpr int64_t kParts = 8;
  constexpr int64_t kWide = 64;  // columns of a part for which reading all indices pays
  constexpr int64_t kLine = 64 / sizeof(Sum);
  constexpr int64_t kNarrow = 16;
  const bool parallel = s.outer * n * s.inner > 128 * 1024;
  const int64_t threads = std::min<int64_t>(kParts, num_threads());
  const int64_t lines = s.inner / kLine;
  const bool by_columns = lines >= 2;
  const int64_t most = by_columns ? std::max(std::min(threads, lines), s.inner / kWide)
                                  : std::min({kParts / 2, threads, s.axis});
  const int64_t parts =
      !parallel || s.outer >= kParts || s.inner < kNarrow ? 1 : std::min(kParts, most);
  parallel_for(s.outer * parts, parallel, [&](int64_t unit) {
    const int64_t part = unit % parts;
    Region region{unit / parts, 0, s.inner, 0, s.axis};
    if (by_columns) {
      region.left = part * lines / parts * kLine;
      region.right = part + 1 == parts ? s.inner : (part + 1) * lines / parts * kLine;
    } else {
      region.low = part * s.axis / parts;
      region.high = (part + 1) * s.axis / parts;
    }
    scatter_region<update, T>(s, in, indices, out, n, region);
  });
}

template <Update update, class T, class I>
Status scatter(const ScatterAdd& s, const Slots& slots) {
  const auto* indices = reinterpret_cast<const I*>(slots.at(s.indices));
  const auto* in = reinterpret_cast<const T*>(slots.at(s.in));
  auto* out = reinterpret_cast<T*>(slots.at(s.out));
  const int64_t n = s.indices.shape.size();
  const int64_t size = s.outer * s.axis * s.inner;
  const Status checked = s.equal ? Status{} : check(indices, n, s.axis);
  if (!checked || size == 0) return checked;
  constexpr int64_t kPart = 32 * 1024;
  const auto each_part = [&](auto&& body) {
    parallel_for(ceil_div(size, kPart), size > 2 * kPart,
                 [&](int64_t part) { body(part * kPart, std::min((part + 1) * kPart, size)); });
  };
  if constexpr (std::is_same_v<T, float> && update == Update::Add) {
    // With more addends than entries, many meet in one entry, and float32 would lose digits.
    if (n > s.axis) {
      auto* sums = reinterpret_cast<double*>(slots.scratch());
      const auto& cast = kernels().casts.of;
      constexpr auto kSingle = static_cast<int>(DType::Float32);
      constexpr auto kDouble = static_cast<int>(DType::Float64);
      each_part([&](int64_t begin, int64_t end) {
        if (s.clear) return std::fill(sums + begin, sums + end, 0.0);
        cast[kSingle][kDouble](sums + begin, out + begin, nullptr, nullptr, end - begin);
      });
      scatter_parts<update, T>(s, in, indices, sums, n);
      each_part([&](int64_t begin, int64_t end) {
        cast[kDouble][kSingle](out + begin, sums + begin, nullptr, nullptr, end - begin);
      });
      return {};
    }
  }
  if (s.clear) {
    each_part([&](int64_t begin, int64_t end) { std::fill(out + begin, out + end, T(0)); });
  }
  if constexpr (update == Update::Add) {
    if (s.equal) {
      const int64_t* last = find_last(s.indices.dtype, slots.at(s.indices), n, slots.scratch());
      scatter_parts<update, T>(s, in, last, out, n);
      return {};
    }
  }
  scatter_parts<update, T>(s, in, indices, out, n);
  return {};
}

template <Update update, class T>
Status scatter_of(const ScatterAdd& s, const Slots& slots) {
  return s.indices.dtype == DType::Int32 ? scatter<update, T, int32_t>(s, slots)
                                         : scatter<update, T, int64_t>(s, slots);
}

// Unsigned types wrap; only min and max depend on the sign. uint8_t is bool.
template <Update update>
Status arithmetic(const ScatterAdd& s, const Slots& slots) {
  constexpr bool ordered = update == Update::Min || update == Update::Max;
  switch (s.out.dtype) {
    case DType::Bool:
      return scatter_of<update, uint8_t>(s, slots);
    case DType::Int32:
      return scatter_of<update, std::conditional_t<ordered, int32_t, uint32_t>>(s, slots);
    case DType::Int64:
      return scatter_of<update, std::conditional_t<ordered, int64_t, uint64_t>>(s, slots);
    case DType::Float32:
      return scatter_of<update, float>(s, slots);
    case DType::Float64:
      return scatter_of<update, double>(s, slots);
    case DType::UInt64:
      return scatter_of<update, uint64_t>(s, slots);
    default:  // widened by the builders
      break;
  }
  return {};
}

}  // namespace

Status run_gather(const Gather& g, const Slots& slots) {
  switch (size_of(g.in.dtype)) {
    case 1:
      return gather_of<uint8_t>(g, slots);
    case 2:
      return gather_of<uint16_t>(g, slots);
    case 4:
      return gather_of<uint32_t>(g, slots);
    default:
      return gather_of<uint64_t>(g, slots);
  }
}

int64_t scratch_bytes(const ScatterAdd& s) {
  const int64_t n = s.indices.shape.size();
  if (s.equal) return last_equal_bytes(n);
  const bool sums = s.update == Update::Add && s.out.dtype == DType::Float32 && n > s.axis;
  return sums ? s.outer * s.axis * s.inner * static_cast<int64_t>(sizeof(double)) : 0;
}

Status run_scatter_add(const ScatterAdd& s, const Slots& slots) {
  switch (s.update) {
    case Update::Set:
      break;
    case Update::Add:
      return arithmetic<Update::Add>(s, slots);
    case Update::Multiply:
      return arithmetic<Update::Multiply>(s, slots);
    case Update::Min:
      return arithmetic<Update::Min>(s, slots);
    case Update::Max:
      return arithmetic<Update::Max>(s, slots);
  }
  switch (size_of(s.out.dtype)) {
    case 1:
      return scatter_of<Update::Set, uint8_t>(s, slots);
    case 2:
      return scatter_of<Update::Set, uint16_t>(s, slots);
    case 4:
      return scatter_of<Update::Set, uint32_t>(s, slots);
    default:
      return scatter_of<Update::Set, uint64_t>(s, slots);
  }
}

}  // namespace pullback
