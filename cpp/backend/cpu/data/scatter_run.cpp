// Runs ScatterAdd. All indices are checked before anything is written, unless an earlier step has
// checked them, and not again.
//
// ScatterAdd returns the same bits for any number of threads: work is divided by destination, never
// by the list of indices, so each entry receives its addends in the order of the indices.
#include <algorithm>
#include <type_traits>

#include "backend/cpu/data/index_parts.h"
#include "backend/cpu/data/index_run.h"
#include "backend/cpu/data/last_equal.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

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

// Rows of one entry. Local copies, since the compiler assumes that a write to `out` changes `s`.
template <Update update, class T, class Sum, class I>
void scatter_entries(const ScatterAdd& s, const T* in, const I* indices, Sum* out, int64_t n) {
  constexpr int64_t kPart = 64 * 1024;
  constexpr int64_t kNear = 1024 * 1024;  // bytes that stay in the cache anyway
  const int64_t step = s.in.strides[1];
  const int64_t axis = s.axis;
  const bool far = axis * static_cast<int64_t>(sizeof(Sum)) > kNear;
  const auto add = [&](int64_t i) {
    combine<update, T>(out + index_parts::position(indices[i], axis), in[i * step]);
  };
  for (int64_t first = 0; first < n && !stop_requested(); first += kPart) {
    int64_t i = first;
    const int64_t last = std::min(first + kPart, n);
    for (; far && i + index_parts::kAhead < last; ++i) {
      __builtin_prefetch(out + index_parts::position(indices[i + index_parts::kAhead], axis), 1);
      add(i);
    }
    for (; i < last; ++i) add(i);
  }
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
    if (far && i + index_parts::kAhead < n) {
      __builtin_prefetch(
          out + index_parts::position(indices[i + index_parts::kAhead], s.axis) * s.inner +
              region.left,
          1);
    }
    if (partial && i + index_parts::kAhead < n) {
      prefetch_row(in + (i + index_parts::kAhead) * stride[1] + region.left,
                   region.right - region.left);
    }
    Sum* y = out + index_parts::position(indices[i], s.axis) * s.inner;
    combine_row<update, T>(in + i * stride[1], stride[2], y, region.left, region.right);
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
  if (whole && s.inner == 1) return scatter_entries<update, T>(s, in, indices, out, n);
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
      to[k] = index_parts::position(indices[first + k], s.axis);
    }
    for (int64_t i = first; i < last && !whole; ++i) {
      const int64_t at = index_parts::position(indices[i], s.axis);
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
      if (k + index_parts::kAhead < count) {
        __builtin_prefetch(out + to[k + index_parts::kAhead] * s.inner + region.left, 1);
        if (stride[2] == 1) prefetch_row(in + from[k + index_parts::kAhead] * stride[1], s.inner);
      }
      combine_row<update, T>(in + from[k] * stride[1], stride[2], out + to[k] * s.inner,
                             region.left, region.right);
    }
  }
}

template <Update update, class T, class Sum, class I>
void scatter_small_blocks(const ScatterAdd& s, const T* in, const I* indices, Sum* out, int64_t n) {
  const Strides& stride = s.in.strides;
  const int64_t elements = n * s.inner;
  int64_t from[index_parts::kSmallBlock], to[index_parts::kSmallBlock];
  for (int64_t e = 0; e < elements; ++e) {
    from[e] = e / s.inner * stride[1] + e % s.inner * stride[2];
    to[e] = index_parts::position(indices[e / s.inner], s.axis) * s.inner + e % s.inner;
  }
  index_parts::for_small_blocks(s.outer, elements, [&](int64_t first, int64_t last) {
    const T* x = in + first * stride[0];
    Sum* y = out + first * s.axis * s.inner;
    for (int64_t o = first; o < last; ++o, x += stride[0], y += s.axis * s.inner) {
      for (int64_t e = 0; e < elements; ++e) combine<update, T>(y + to[e], x[from[e]]);
    }
  });
}

// Divides the work by outer block. If there are few blocks, by columns, in whole cache lines. If
// rows are shorter than two lines, by entries of the axis; each part then reads all indices. Rows
// of a few numbers are not worth that. (In every case an entry receives its addends in the order of
// the indices.)
template <Update update, class T, class Sum, class I>
void scatter_parts(const ScatterAdd& s, const T* in, const I* indices, Sum* out, int64_t n) {
  if (s.outer > 1 && n * s.inner <= index_parts::kSmallBlock) {
    return scatter_small_blocks<update, T>(s, in, indices, out, n);
  }
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
  const bool inside = s.equal || s.checked;
  const Status checked = inside ? Status{} : index_parts::check(indices, n, s.axis);
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
