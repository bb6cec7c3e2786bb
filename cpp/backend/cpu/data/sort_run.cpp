// Runs Sort and Search. A row is converted to words (sort_words.h): keys whose unsigned order is
// the order of the entries, followed by positions if these are needed.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "backend/cpu/data/scan_sort_run.h"
#include "backend/cpu/data/sort_keys.h"
#include "backend/cpu/data/sort_words.h"
#include "base/threads.h"

namespace pullback {
namespace {

// A word is a key with its position, in one number if 32 bits suffice for each.
template <class T, class W>
struct Positioned {
  static constexpr bool kPacked = std::is_same_v<W, uint64_t>;
  static constexpr int kLow = kPacked ? 32 : 0;
  static W word(T x, int64_t at, bool descending) {
    const uint64_t key = Keys<T>::of(x, descending);
    if constexpr (kPacked) {
      return key << 32 | static_cast<uint64_t>(at);
    } else {
      return {key, static_cast<uint64_t>(at)};
    }
  }
  static int64_t out(const W& word) {
    if constexpr (kPacked) {
      return static_cast<int64_t>(word & 0xffffffff);
    } else {
      return static_cast<int64_t>(word.at);
    }
  }
};

// Restores the signs of zeros in their original order.
template <class T>
void restore_zeros(const T* x, int64_t dx, int64_t n, bool descending, T* y, int64_t dy) {
  int64_t before = 0;
  for (int64_t i = 0; i < n; ++i) before += descending ? x[i * dx] > 0 : x[i * dx] < 0;
  for (int64_t i = 0; i < n; ++i) {
    if (x[i * dx] == 0) y[before++ * dy] = x[i * dx];
  }
}

template <class T>
void sort_row(const T* x, int64_t dx, int64_t n, bool descending, char* memory, T* y, int64_t dy) {
  using K = Keys<T>;
  using W = typename K::Word;
  W* words = reinterpret_cast<W*>(memory);
  std::atomic<bool> negative_zero{false};
  each_part(n, [&](int64_t begin, int64_t end) {
    bool met = false;
    for (int64_t i = begin; i < end; ++i) {
      const T value = x[i * dx];
      words[i] = K::of(value, descending);
      if constexpr (std::is_floating_point_v<T>) met |= std::bit_cast<W>(value) == K::kSign;
    }
    if (met) negative_zero = true;
  });
  sort_words<W>(memory, n, 0);
  each_part(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i * dy] = K::back(words[i], descending);
  });
  if constexpr (std::is_floating_point_v<T>) {
    if (negative_zero) restore_zeros(x, dx, n, descending, y, dy);
  }
}

template <class T, class W>
void argsort_row(const T* x, int64_t dx, int64_t n, bool descending, char* memory, int64_t* y,
                 int64_t dy) {
  using P = Positioned<T, W>;
  W* words = reinterpret_cast<W*>(memory);
  each_part(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) words[i] = P::word(x[i * dx], i, descending);
  });
  sort_words<W>(memory, n, P::kLow);
  each_part(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i * dy] = P::out(words[i]);
  });
}

// Calls row(x, step of x, memory, y, step of y) for every row.
template <class T, class R, class W, class Row>
Status each_row(const Sort& s, const Slots& slots, Row&& row) {
  const T* in = reinterpret_cast<const T*>(slots.at(s.in));
  R* out = reinterpret_cast<R*>(slots.at(s.out));
  const Strides& stride = s.in.strides;
  const int64_t rows = s.outer * s.inner;
  const bool inside = s.length >= sort_detail::kLongSort && rows < 4;
  const int64_t per_chunk = inside ? rows : chunk_size(rows, 8 * s.length);
  FirstProblem problem;
  parallel_for(ceil_div(rows, per_chunk), rows * s.length > 16 * 1024, [&](int64_t chunk) {
    const StepMemory memory(sort_memory<W>(s.length));
    if (!memory.data()) return problem.report(chunk, Problem::Memory);
    const int64_t end = std::min((chunk + 1) * per_chunk, rows);
    for (int64_t r = chunk * per_chunk; r < end; ++r) {
      const int64_t o = r / s.inner;
      const int64_t j = r % s.inner;
      row(in + o * stride[0] + j * stride[2], stride[1], memory.data(),
          out + o * s.length * s.inner + j, s.inner);
      if (stop_requested()) return;
    }
  });
  return problem.status();
}

template <class T>
Status sort_of(const Sort& s, const Slots& slots) {
  const int64_t n = s.length;
  if (s.op == Op::sort) {
    return each_row<T, T, typename Keys<T>::Word>(
        s, slots, [&](const T* x, int64_t dx, char* memory, T* y, int64_t dy) {
          sort_row(x, dx, n, s.descending, memory, y, dy);
        });
  }
  const auto positions = [&]<class W>(W) {
    return each_row<T, int64_t, W>(
        s, slots, [&](const T* x, int64_t dx, char* memory, int64_t* y, int64_t dy) {
          argsort_row<T, W>(x, dx, n, s.descending, memory, y, dy);
        });
  };
  return sizeof(T) <= 4 && n <= int64_t{UINT32_MAX} ? positions(uint64_t{}) : positions(KeyAt{});
}

// Interleaved searches, each with prefetched memory. No branch depends on the data.
template <bool right, class T>
void search_some(const T* sorted, int64_t among, const T* x, int64_t count, int64_t* out) {
  constexpr int64_t kSome = 16;
  const auto before = [](T entry, T value) { return right ? entry <= value : entry < value; };
  for (int64_t i = 0; i < count; i += kSome) {
    const int64_t some = std::min(kSome, count - i);
    int64_t at[kSome] = {};
    for (int64_t n = among; n > 1; n -= n / 2) {
      const int64_t half = n / 2;
      for (int64_t j = 0; j < some; ++j) {
        at[j] += -static_cast<int64_t>(before(sorted[at[j] + half - 1], x[i + j])) & half;
      }
    }
    for (int64_t j = 0; j < some; ++j) {
      out[i + j] = at[j] + (among > 0 && before(sorted[at[j]], x[i + j]));
    }
  }
}

// NaN is the largest: NaNs in `sorted` are at its end.
template <class T>
void place_nan(const T* sorted, int64_t among, bool right, const T* x, int64_t count,
               int64_t* out) {
  int64_t first = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (x[i] == x[i]) continue;
    if (first < 0) {
      first = std::partition_point(sorted, sorted + among, [](T v) { return v == v; }) - sorted;
    }
    out[i] = right ? among : first;
  }
}

template <class T>
Status search_of(const Search& s, const Slots& slots) {
  const T* sorted = reinterpret_cast<const T*>(slots.at(s.sorted));
  const T* in = reinterpret_cast<const T*>(slots.at(s.in));
  auto* out = reinterpret_cast<int64_t*>(slots.at(s.out));
  const int64_t among = s.sorted.shape.size();
  const int64_t n = s.in.shape.size();
  const int64_t per_chunk = chunk_size(n, 8);
  parallel_for(ceil_div(n, per_chunk), n > 8 * 1024, [&](int64_t chunk) {
    const int64_t i = chunk * per_chunk;
    const int64_t count = std::min(per_chunk, n - i);
    if (s.right) {
      search_some<true>(sorted, among, in + i, count, out + i);
    } else {
      search_some<false>(sorted, among, in + i, count, out + i);
    }
    if constexpr (std::is_floating_point_v<T>) {
      place_nan(sorted, among, s.right, in + i, count, out + i);
    }
  });
  return {};
}

}  // namespace

Status run_sort(const Sort& s, const Slots& slots) {
  if (s.outer * s.length * s.inner == 0) return {};
  switch (s.in.dtype) {
    case DType::Bool:
      return sort_of<uint8_t>(s, slots);
    case DType::Int32:
      return sort_of<int32_t>(s, slots);
    case DType::Int64:
      return sort_of<int64_t>(s, slots);
    case DType::Float32:
      return sort_of<float>(s, slots);
    case DType::Float64:
      return sort_of<double>(s, slots);
    case DType::UInt64:
      return sort_of<uint64_t>(s, slots);
    default:  // widened around the step
      break;
  }
  return {};
}

Status run_search(const Search& s, const Slots& slots) {
  if (s.in.shape.size() == 0) return {};
  switch (s.in.dtype) {
    case DType::Bool:
      return search_of<uint8_t>(s, slots);
    case DType::Int32:
      return search_of<int32_t>(s, slots);
    case DType::Int64:
      return search_of<int64_t>(s, slots);
    case DType::Float32:
      return search_of<float>(s, slots);
    case DType::Float64:
      return search_of<double>(s, slots);
    case DType::UInt64:
      return search_of<uint64_t>(s, slots);
    default:  // widened around the step
      break;
  }
  return {};
}

}  // namespace pullback
