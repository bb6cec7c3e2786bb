// Kernels over rows: repeat an entry along its row, take one entry of each row, combine elements
// with the entry of their row, copy short rows, add rows to rows. Compiled once per instruction
// set, flags as in elementwise.h.
#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_exp.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

// A loop of unknown short length costs more than the row, so lengths up to this one are constants.
constexpr int kShortRow = 16;
// Entries of a row whose offsets stay in registers.
constexpr int kHeldEntries = 8;

// Calls run(Length<n>) for 1 <= n <= kShortRow.
template <int n>
struct Length {
  static constexpr int kValue = n;
};
template <int n = kShortRow, class Run>
PULLBACK_INLINE void with_length(int64_t length, Run&& run) {
  if constexpr (n > 1) {
    if (length != n) return with_length<n - 1>(length, run);
  }
  run(Length<n>{});
}

// Vector k of the `length` vectors that the entries of v fill if each is repeated `length` times.
template <class T, int length, int k, size_t... j>
PULLBACK_INLINE typename Lanes<T>::Vector repeated(const typename Lanes<T>::Vector& v,
                                                   std::index_sequence<j...> /*each*/) {
  return __builtin_shufflevector(v, v, (k * Lanes<T>::kCount + static_cast<int>(j)) / length...);
}

template <class T, int length, int... k>
PULLBACK_INLINE void spread_lanes(T* y, const T* x, std::integer_sequence<int, k...> /*each*/) {
  using L = Lanes<T>;
  const auto v = L::load(x);
  (L::store(y + k * L::kCount, repeated<T, length, k>(v, std::make_index_sequence<L::kCount>())),
   ...);
}

// Repeats entries of short rows, and returns the number of those that are done. A function of its
// own: the loop of long rows is not vectorised if a lambda refers to its variables.
template <class T>
int64_t spread_short(T* y, const T* x, int64_t rows, int64_t length) {
  int64_t r = 0;
  if constexpr (sizeof(T) >= 4) {
    with_length(length, [&](auto known) {
      constexpr int n = decltype(known)::kValue;
      for (; r + Lanes<T>::kCount <= rows; r += Lanes<T>::kCount) {
        spread_lanes<T, n>(y + r * n, x + r, std::make_integer_sequence<int, n>());
      }
    });
  } else {
    // One block that reaches into the next row, which is written afterwards.
    for (; (rows - r) * length >= kShortRow; ++r) {
      const T value = x[r];
      for (int64_t j = 0; j < kShortRow; ++j) y[r * length + j] = value;
    }
  }
  return r;
}

template <class T>
int spread(void* out, const void* a, const void*, const void*, int64_t rows,
           int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  int64_t r = length <= kShortRow ? spread_short(y, x, rows, length) : 0;
  for (; r < rows; ++r) {
    const T value = x[r];
    for (int64_t j = 0; j < length; ++j) y[r * length + j] = value;
  }
  return kFine;
}

PULLBACK_INLINE bool all_inside(const int64_t* index, int64_t rows, int64_t length) {
  int64_t outside = 0;
  for (int64_t r = 0; r < rows; ++r) outside |= (index[r] < 0) | (index[r] >= length);
  return !outside;
}

template <class T>
int pick(void* out, const void* a, const void* b, const void*, int64_t rows,
         int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* index = static_cast<const int64_t*>(b);
  if (!all_inside(index, rows, length)) return kIndexOutOfRange;
  for (int64_t r = 0; r < rows; ++r) y[r] = x[r * length + index[r]];
  return kFine;
}

template <class T>
int place(void* out, const void* a, const void* b, const void*, int64_t rows,
          int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* index = static_cast<const int64_t*>(b);
  if (!all_inside(index, rows, length)) return kIndexOutOfRange;
  for (int64_t i = 0; i < rows * length; ++i) y[i] = T(0);
  for (int64_t r = 0; r < rows; ++r) y[r * length + index[r]] = x[r];
  return kFine;
}

// Adds zero to all entries but one of a row, which makes zeros positive.
template <class T>
int place_add(void* out, const void* a, const void* b, const void* c, int64_t rows,
              int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* entries = static_cast<const T*>(a);
  const auto* index = static_cast<const int64_t*>(b);
  const auto* x = static_cast<const T*>(c);
  if (!all_inside(index, rows, length)) return kIndexOutOfRange;
  for (int64_t r = 0; r < rows; ++r, y += length, x += length) {
    const T sum = entries[r] + x[index[r]];
#pragma GCC ivdep
    for (int64_t j = 0; j < length; ++j) y[j] = x[j] + T(0);
    y[index[r]] = sum;
  }
  return kFine;
}

// clang-format off
struct Add { template <class T> PULLBACK_INLINE static T of(T a, T b) { return a + b; } };
struct Subtract { template <class T> PULLBACK_INLINE static T of(T a, T b) { return a - b; } };
struct Multiply { template <class T> PULLBACK_INLINE static T of(T a, T b) { return a * b; } };
struct Divide { template <class T> PULLBACK_INLINE static T of(T a, T b) { return a / b; } };
// clang-format on

template <class Row, class T>
int arithmetic(void* out, const void* a, const void* b, const void*, int64_t rows,
               int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* entries = static_cast<const T*>(b);
  for (int64_t r = 0; r < rows; ++r, y += length, x += length) {
    const T entry = entries[r];
#pragma GCC ivdep
    for (int64_t j = 0; j < length; ++j) y[j] = Row::of(x[j], entry);
  }
  return kFine;
}

// With a stride known at compile time, whole vectors are read.
template <class T>
void gather(void* out, const void* in, int64_t stride, int64_t n) noexcept {
  auto* __restrict y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in);
  const auto go = [&](int64_t step) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i * step];
  };
  stride == 2 ? go(2) : stride == 3 ? go(3) : stride == 4 ? go(4) : go(stride);
}

// How the entries of a row lie in the output.
enum class Entries { Anywhere, InOrder, Together };  // Together: side by side in the input too

template <class T, Entries entries>
void copy_entries(const RowCopy& call, int64_t first, int64_t count) {
  with_length<kHeldEntries>(count, [&](auto known) {
    constexpr int n = decltype(known)::kValue;
    int64_t from[n], to[n];
    for (int j = 0; j < n; ++j) {
      from[j] = call.from[first + j];
      to[j] = entries == Entries::Anywhere ? call.to[first + j] : j;
    }
    auto* y = static_cast<T*>(call.out) + (entries == Entries::Anywhere ? 0 : call.to[first]);
    const auto* x = static_cast<const T*>(call.in);
    for (int64_t r = 0; r < call.rows; ++r, y += call.out_row, x += call.in_row) {
      if constexpr (entries == Entries::Together) {
        __builtin_memcpy(y, x + from[0], n * sizeof(T));
      } else {
#pragma GCC unroll 8
        for (int j = 0; j < n; ++j) y[to[j]] = x[from[j]];
      }
    }
  });
}

#if defined(__AVX2__)
// Whole vectors of entries of four or eight bytes: as many rows as fit, entries of which are chosen
// by one shuffle. A vector may reach beyond its rows, into rows that are read or written later.
template <class T, int bytes>
struct RowVectors {
  static constexpr int kWords = static_cast<int>(sizeof(T) / sizeof(uint32_t));  // of an entry
  static constexpr int kCount = bytes / static_cast<int>(sizeof(T));
  typedef uint32_t Vector __attribute__((vector_size(bytes)));

  const RowCopy& call;
  int64_t lowest, span;  // of the entries of a row
  int64_t rows;          // in a vector

  explicit RowVectors(const RowCopy& c) : call(c), lowest(c.from[0]), span(c.from[0]), rows(0) {
    for (int64_t j = 1; j < c.entries; ++j) {
      lowest = c.from[j] < lowest ? c.from[j] : lowest;
      span = c.from[j] > span ? c.from[j] : span;
    }
    span += 1 - lowest;
    if (c.in_row <= 0) return;
    while ((rows + 1) * c.entries <= kCount && rows * c.in_row + span <= kCount) ++rows;
  }
  static Vector chosen(const Vector& v, const Vector& from) {
#if defined(__AVX512F__)
    if constexpr (bytes == 64) {
      return reinterpret_cast<Vector>(_mm512_maskz_permutexvar_epi32(
          0xffff, reinterpret_cast<__m512i>(from), reinterpret_cast<__m512i>(v)));
    }
#endif
    if constexpr (bytes == 32) {
      return reinterpret_cast<Vector>(_mm256_permutevar8x32_epi32(reinterpret_cast<__m256i>(v),
                                                                  reinterpret_cast<__m256i>(from)));
    }
  }
  // Returns the number of rows that were copied.
  int64_t run() const {
    uint32_t each[kCount * kWords] = {};
    for (int64_t i = 0, r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < call.entries; ++j) {
        const int64_t entry = r * call.in_row + call.from[j] - lowest;
        for (int k = 0; k < kWords; ++k, ++i) each[i] = static_cast<uint32_t>(entry * kWords + k);
      }
    }
    Vector from, v;
    __builtin_memcpy(&from, each, sizeof from);
    const auto* x = static_cast<const T*>(call.in) + lowest;
    auto* y = static_cast<T*>(call.out);
    const int64_t last_in = (call.rows - 1) * call.in_row + span - kCount;
    const int64_t last_out = call.rows * call.entries - kCount;
    int64_t r = 0;
    for (; r * call.in_row <= last_in && r * call.entries <= last_out; r += rows) {
      __builtin_memcpy(&v, x + r * call.in_row, sizeof v);
      v = chosen(v, from);
      __builtin_memcpy(y + r * call.entries, &v, sizeof v);
    }
    return r;
  }
};
#endif

// Returns the number of rows that were copied.
template <class T>
int64_t copy_in_vectors([[maybe_unused]] const RowCopy& call) {
#if defined(__AVX2__)
  constexpr int64_t kFew = 128;
  if constexpr (sizeof(T) >= sizeof(uint32_t)) {
    if (call.rows * call.entries < kFew) return 0;
    const RowVectors<T, 32> narrow(call);
#if defined(__AVX512F__)
    const RowVectors<T, 64> wide(call);
    if (wide.rows > narrow.rows) return wide.run();
#endif
    if (narrow.rows > 0) return narrow.run();
  }
#endif
  return 0;
}

// Repeats the first of `rows` rows, which lie side by side: copies twice as many each time.
template <class T>
void repeat_row(T* y, int64_t entries, int64_t rows) {
  for (int64_t done = 1; done < rows;) {
    const int64_t count = done < rows - done ? done : rows - done;
    __builtin_memcpy(y + done * entries, y, static_cast<size_t>(count * entries) * sizeof(T));
    done += count;
  }
}

template <class T>
void copy_rows(const RowCopy& all) noexcept {
  bool in_order = true, together = true;
  for (int64_t j = 0; j < all.entries; ++j) {
    in_order &= all.to[j] == all.to[0] + j;
    together &= all.from[j] == all.from[0] + j;
  }
  together &= in_order;
  RowCopy call = all;
  const bool dense = in_order && all.to[0] == 0 && all.out_row == all.entries;
  constexpr int64_t kManyRows = 128;  // for which repeat_row takes less time
  const bool repeated = dense && all.in_row == 0 && all.rows >= kManyRows;
  if (repeated) {
    call.rows = 1;
  } else if (const int64_t done = dense && !together ? copy_in_vectors<T>(all) : 0) {
    call.in = static_cast<const T*>(all.in) + done * all.in_row;
    call.out = static_cast<T*>(all.out) + done * all.out_row;
    call.rows -= done;
  }
  const auto copy = together   ? &copy_entries<T, Entries::Together>
                    : in_order ? &copy_entries<T, Entries::InOrder>
                               : &copy_entries<T, Entries::Anywhere>;
  for (int64_t first = 0; first < call.entries; first += kHeldEntries) {
    const int64_t left = call.entries - first;
    copy(call, first, left < kHeldEntries ? left : kHeldEntries);
  }
  if (repeated) repeat_row(static_cast<T*>(all.out), all.entries, all.rows);
}

// Four numbers at a time: rows may be short, and are at random places.
template <class T, class Sum>
void add_rows(const RowsCall& call) noexcept {
  constexpr int64_t kAhead = 8;
  constexpr int kFour = 4;
  typedef T From __attribute__((vector_size(kFour * sizeof(T)), aligned(alignof(T)), may_alias));
  typedef Sum To
      __attribute__((vector_size(kFour * sizeof(Sum)), aligned(alignof(Sum)), may_alias));
  constexpr auto kFromLine = static_cast<int64_t>(64 / sizeof(T));
  constexpr auto kToLine = static_cast<int64_t>(64 / sizeof(Sum));
  for (int64_t k = 0; k < call.count; ++k) {
    if (k + kAhead < call.count) {
      const T* x = static_cast<const T*>(call.in) + call.from[k + kAhead] * call.in_row;
      const Sum* y = static_cast<Sum*>(call.out) + call.to[k + kAhead] * call.out_row;
      for (int64_t j = 0; j < call.columns && j < 4 * kFromLine; j += kFromLine) {
        __builtin_prefetch(x + j);
      }
      for (int64_t j = 0; j < call.columns && j < 4 * kToLine; j += kToLine) {
        __builtin_prefetch(y + j, 1);
      }
    }
    const T* x = static_cast<const T*>(call.in) + call.from[k] * call.in_row;
    Sum* y = static_cast<Sum*>(call.out) + call.to[k] * call.out_row;
    int64_t j = 0;
    for (; j + kFour <= call.columns; j += kFour) {
      const From from = *reinterpret_cast<const From*>(x + j);
      auto* to = reinterpret_cast<To*>(y + j);
      *to = *to + __builtin_convertvector(from, To);
    }
    for (; j < call.columns; ++j) y[j] += static_cast<Sum>(x[j]);
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const RowTable kRowTable = {
    {&spread<uint8_t>, &spread<uint32_t>, &spread<uint64_t>, &spread<uint16_t>},
    {&pick<uint8_t>, &pick<uint32_t>, &pick<uint64_t>, &pick<uint16_t>},
    {&place<uint8_t>, &place<uint32_t>, &place<uint64_t>, &place<uint16_t>},
    {&place_add<float>, &place_add<double>},
    {{&arithmetic<Add, float>, &arithmetic<Add, double>},
     {&arithmetic<Subtract, float>, &arithmetic<Subtract, double>},
     {&arithmetic<Multiply, float>, &arithmetic<Multiply, double>},
     {&arithmetic<Divide, float>, &arithmetic<Divide, double>}},
    {&gather<uint32_t>, &gather<uint64_t>},
    {&copy_rows<uint8_t>, &copy_rows<uint32_t>, &copy_rows<uint64_t>, &copy_rows<uint16_t>},
    {&add_rows<float, float>, &add_rows<double, double>, &add_rows<float, double>},
};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
