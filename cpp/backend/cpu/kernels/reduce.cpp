// Folds of one tile into accumulators: sum, max, min, all, any.
//
// The order of additions depends on sizes alone, never on the instruction set. A row is cut into
// leaves; each leaf runs in kLanes lanes that are combined as a tree, its rest in smaller trees.
// Columns run row by row (narrow ones in column_lanes). float32 sums accumulate in float64; bool
// and int32 in int64, which wraps. If the order does not matter, rows are plain loops that the
// compiler vectorises. Tiles are cut and combined in group_run.cpp. Compiled once per instruction
// set, flags as in elementwise.h.
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_math.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

constexpr int64_t kLanes = 16;

template <bool first, class T, class>
struct Choose {
  using type = T;
};
template <class T, class U>
struct Choose<false, T, U> {
  using type = U;
};

template <class T, class Sum, DType dtype>
struct SumFold {
  using Value = T;
  using Accumulator = Sum;
  static constexpr DType kType = dtype;
  static_assert(size_of(dtype) == sizeof(Sum) && is_float(dtype) == m::kFloat<Sum>);
  static constexpr Op kMerge = Op::add;
  static constexpr Sum kIdentity = 0;
  static constexpr bool kSideBySide = true;            // short rows
  static constexpr bool kInRegisters = sizeof(T) > 1;  // columns
  PULLBACK_INLINE static Sum lift(T a) { return static_cast<Sum>(a); }
  PULLBACK_INLINE static Sum merge(Sum a, Sum b) { return a + b; }
  PULLBACK_INLINE static Sum row(const T* x, int64_t n) {
    if (n < kLanes) {
      Sum sum = kIdentity;
      for (int64_t i = 0; i < n; ++i) sum += lift(x[i]);
      return sum;
    }
    if constexpr (sizeof(T) == 1) return count(x, n);
    Sum lane[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) lane[j] = lift(x[j]);
    int64_t i = kLanes;
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) lane[j] += lift(x[i + j]);
    }
    Sum sum = tree<kLanes>(lane);
    return add_rest(sum, x + i, n - i);
  }
  // In trees of fixed size: lanes of variable number would be stored in memory.
  template <class U>
  PULLBACK_INLINE static Sum add_rest(Sum sum, const U* x, int64_t rest) {
    if (rest & 8) sum += sum_lanes<8>(x), x += 8;
    if (rest & 4) sum += sum_lanes<4>(x), x += 4;
    if (rest & 2) sum += sum_lanes<2>(x), x += 2;
    return rest & 1 ? sum + static_cast<Sum>(x[0]) : sum;
  }
  // Adds first to the lanes of a leaf, and then to its rest.
  PULLBACK_INLINE static void add_part(const T* x, int64_t n, int64_t at, int64_t length,
                                       Sum* state) {
    const int64_t whole = length - length % kLanes;
    int64_t i = 0;
    if (at == 0) {
      for (int64_t j = 0; j < kLanes; ++j) state[j] = kIdentity;
    }
    for (; at % kLanes != 0 && at < whole && i < n; ++i, ++at) state[at % kLanes] += lift(x[i]);
    const int64_t end = i + (n - i < whole - at ? n - i : whole - at) / kLanes * kLanes;
    if (i < end) {
      at += end - i;
      Sum lane[kLanes];
      for (int64_t j = 0; j < kLanes; ++j) lane[j] = state[j];
      for (; i < end; i += kLanes) {
        for (int64_t j = 0; j < kLanes; ++j) lane[j] += lift(x[i + j]);
      }
      for (int64_t j = 0; j < kLanes; ++j) state[j] = lane[j];
    }
    for (; i < n && at < whole; ++i, ++at) state[at % kLanes] += lift(x[i]);
    for (; i < n; ++i, ++at) state[kLanes + at - whole] = lift(x[i]);
  }
  static Sum sum_of(Sum* state, int64_t length) {
    const Sum* rest = state + kLanes;
    if (length >= kLanes) return add_rest(tree<kLanes>(state), rest, length % kLanes);
    Sum sum = kIdentity;
    for (int64_t i = 0; i < length; ++i) sum += rest[i];
    return sum;
  }
  template <int64_t lanes>
  PULLBACK_INLINE static Sum tree(Sum* lane) {
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) lane[j] += lane[j + half];
    }
    return lane[0];
  }
  template <int64_t lanes, class U>
  PULLBACK_INLINE static Sum sum_lanes(const U* x) {
    Sum lane[lanes];
    for (int64_t j = 0; j < lanes; ++j) lane[j] = static_cast<Sum>(x[j]);
    return tree<lanes>(lane);
  }
  // Sums of bools, in blocks whose count fits 16 bits.
  PULLBACK_INLINE static Sum count(const T* x, int64_t n) {
    Sum sum = 0;
    for (int64_t i = 0; i < n;) {
      const int64_t end = n - i > 0xffff ? i + 0xffff : n;
      uint16_t block = 0;
      for (; i < end; ++i) block += x[i];
      sum += block;
    }
    return sum;
  }
};

template <class T, DType dtype, bool largest>
struct ExtremeFold {
  using Value = T;
  using Accumulator = T;
  static constexpr DType kType = dtype;
  static constexpr Op kMerge = sizeof(T) == 1 ? (largest ? Op::logical_or : Op::logical_and)
                                              : (largest ? Op::maximum : Op::minimum);
  static constexpr T identity() {
    if constexpr (m::kFloat<T>) {
      return largest ? -m::kInfinity<T> : m::kInfinity<T>;
    } else if constexpr (sizeof(T) == 1) {
      return largest ? 0 : 1;
    } else if constexpr (T(-1) > T(0)) {
      return largest ? T(0) : T(-1);
    } else {
      const T top = static_cast<T>((uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
      return largest ? -top - 1 : top;
    }
  }
  static constexpr T kIdentity = identity();
  static constexpr bool kSideBySide = true;
  static constexpr bool kInRegisters = false;
  PULLBACK_INLINE static T lift(T a) { return a; }
  PULLBACK_INLINE static T merge(T a, T b) {
    if constexpr (largest) return m::maximum(a, b);
    return m::minimum(a, b);
  }
  template <class I>
  PULLBACK_INLINE static I better(I a, I b) {
    return largest == (b > a) ? b : a;
  }
  PULLBACK_INLINE static T row(const T* x, int64_t n) {
    if constexpr (m::kFloat<T>) {
      return float_row(x, n);
    } else {
      T best = kIdentity;
      for (int64_t i = 0; i < n; ++i) best = better(best, x[i]);
      return best;
    }
  }
  // Compared as integers: the bits of a float, with all but the sign inverted if it is negative,
  // have its order, and -0 comes before +0. A NaN appears as the largest magnitude.
  PULLBACK_INLINE static T float_row(const T* x, int64_t n) {
    using Key = typename Choose<sizeof(T) == 4, int32_t, int64_t>::type;
    constexpr Key most = static_cast<Key>(~m::Real<T>::kSign);
    const auto key = [](Key bits) { return bits ^ (bits < 0 ? most : Key(0)); };
    Key best = key(m::bits_as<Key>(kIdentity)), top = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Key bits = m::bits_as<Key>(x[i]);
      best = better(best, key(bits));
      top = (bits & most) > top ? bits & most : top;
    }
    return top > m::bits_as<Key>(m::kInfinity<T>) ? m::kNaN<T> : m::bits_as<T>(key(best));
  }
};

template <class T, bool every>
struct LogicFold {
  using Value = T;
  using Accumulator = uint8_t;
  static constexpr DType kType = DType::Bool;
  static constexpr Op kMerge = every ? Op::logical_and : Op::logical_or;
  static constexpr uint8_t kIdentity = every;
  static constexpr bool kSideBySide = false;
  static constexpr bool kInRegisters = false;
  PULLBACK_INLINE static uint8_t lift(T a) { return a != T(0); }  // a NaN is true
  PULLBACK_INLINE static uint8_t merge(uint8_t a, uint8_t b) { return every ? a & b : a | b; }
  PULLBACK_INLINE static uint8_t row(const T* x, int64_t n) {
    // As wide as the values, so that nothing is narrowed.
    using Flag = typename Choose<sizeof(T) == 8, int64_t,
                                 typename Choose<sizeof(T) == 4, int32_t, int8_t>::type>::type;
    Flag found = 0;
    for (int64_t i = 0; i < n; ++i) found |= (x[i] != T(0)) != every ? Flag(-1) : Flag(0);
    return (found != 0) != every;
  }
};

// Sums kLanes short rows side by side; alone, each would wait for each of its additions. The order
// of additions is that of a single short row.
template <class Fold>
PULLBACK_INLINE void fold_short_rows(const typename Fold::Value* x, int64_t length,
                                     typename Fold::Accumulator* sum) {
  typename Fold::Accumulator lane[kLanes];
  for (int64_t j = 0; j < kLanes; ++j) lane[j] = Fold::kIdentity;
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < kLanes; ++j) {
      lane[j] = Fold::merge(lane[j], Fold::lift(x[j * length + i]));
    }
  }
  for (int64_t j = 0; j < kLanes; ++j) sum[j] = Fold::merge(sum[j], lane[j]);
}

// For float sums: rows of several leaves, in blocks of at most kLeaf values.
template <class Fold>
[[gnu::noinline]] void fold_long_rows(const typename Fold::Value* x, int64_t count, int64_t length,
                                      typename Fold::Accumulator* sum) {
  using Sum = typename Fold::Accumulator;
  Sum sums[kLeaf];
  for (int64_t r = 0; r < count; ++r) {
    int64_t leaves = 0;
    for (int64_t left = length; left > 0; left -= kLeaf) {
      const int64_t n = left < kLeaf ? left : kLeaf;
      sums[leaves++] = Fold::row(x, n);
      x += n;
    }
    sum[r] += SumFold<Sum, Sum, Fold::kType>::row(sums, leaves);
  }
}

template <class Fold>
void rows(const void* values, int64_t count, int64_t length, void* accumulator) noexcept {
  const auto* x = static_cast<const typename Fold::Value*>(values);
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  int64_t r = 0;
  if constexpr (Fold::kMerge == Op::add && m::kFloat<typename Fold::Value>) {
    if (length > kLeaf) return fold_long_rows<Fold>(x, count, length, sum);
  }
  if (Fold::kSideBySide && length < kLanes) {
    for (; r + kLanes <= count; r += kLanes) {
      fold_short_rows<Fold>(x + r * length, length, sum + r);
    }
  }
  for (; r < count; ++r) {
    sum[r] = Fold::merge(sum[r], Fold::row(x + r * length, length));
  }
}

template <class Fold>
void leaf(const void* values, int64_t n, int64_t at, int64_t length, void* state,
          void* accumulator) noexcept {
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  auto* lanes = static_cast<typename Fold::Accumulator*>(state);
  Fold::add_part(static_cast<const typename Fold::Value*>(values), n, at, length, lanes);
  if (at + n == length) *sum += Fold::sum_of(lanes, length);
}

// For many rows that are short or in the cache: some columns at a time, whose sums stay in
// registers. Other rows are read in the order of memory, which prefetching needs.
template <class Fold>
[[gnu::noinline]] void add_rows(const typename Fold::Value* x, int64_t count, int64_t width,
                                typename Fold::Accumulator* sum) {
  constexpr int64_t kSome = 32;
  constexpr int64_t kMany = 8;
  constexpr int64_t kShort = 64;
  constexpr int64_t kCached = 4 * 1024;  // values
  const bool near = width <= kShort || count * width <= kCached;
  const bool in_registers = Fold::kInRegisters && count >= kMany && near && width % kSome == 0;
  for (int64_t done = 0; in_registers && done < width; done += kSome) {
    typename Fold::Accumulator lane[kSome];
    for (int64_t j = 0; j < kSome; ++j) lane[j] = sum[done + j];
    for (int64_t r = 0; r < count; ++r) {
      const typename Fold::Value* row = x + r * width + done;
      for (int64_t j = 0; j < kSome; ++j) lane[j] = Fold::merge(lane[j], Fold::lift(row[j]));
    }
    for (int64_t j = 0; j < kSome; ++j) sum[done + j] = lane[j];
  }
  for (int64_t r = 0; r < count && !in_registers; ++r, x += width) {
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) sum[j] = Fold::merge(sum[j], Fold::lift(x[j]));
  }
}

template <class Fold>
void lanes_of_columns(const void* values, int64_t count, int64_t width, int64_t lanes,
                      int64_t first, void* accumulator) noexcept {
  const auto* x = static_cast<const typename Fold::Value*>(values);
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  if (lanes == 1) return add_rows<Fold>(x, count, width, sum);
  if (const int64_t at = first % lanes) {
    const int64_t some = lanes - at < count ? lanes - at : count;
    add_rows<Fold>(x, 1, some * width, sum + at * width);
    x += some * width;
    count -= some;
  }
  const int64_t turns = count / lanes;
  add_rows<Fold>(x, turns, lanes * width, sum);
  add_rows<Fold>(x + turns * lanes * width, 1, (count - turns * lanes) * width, sum);
}

template <class Fold>
void columns(const void* values, int64_t count, int64_t width, void* accumulator) noexcept {
  const auto* x = static_cast<const typename Fold::Value*>(values);
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  const int64_t lanes = column_lanes(width);
  if (count <= lanes || lanes == 1) return add_rows<Fold>(x, count, width, sum);
  typename Fold::Accumulator wide[64];
  for (auto& w : wide) w = Fold::kIdentity;
  lanes_of_columns<Fold>(values, count, width, lanes, 0, wide);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (int64_t j = 0; j < width; ++j) sum[j] = Fold::merge(sum[j], wide[lane * width + j]);
  }
}

template <class F>
constexpr auto leaf_of() -> decltype(Fold::leaf) {
  if constexpr (F::kMerge == Op::add && m::kFloat<typename F::Value>) return &leaf<F>;
  return nullptr;
}

template <class F>
constexpr Fold entry() {
  Scalar identity{};
  if constexpr (m::kFloat<typename F::Accumulator>) {
    identity.f = F::kIdentity;
  } else {
    identity.i = F::kIdentity;
  }
  return {F::kType, F::kMerge, identity, &rows<F>, leaf_of<F>(), &columns<F>, &lanes_of_columns<F>};
}

}  // namespace

namespace PULLBACK_KERNELS {

#define PULLBACK_EXTREMES(largest)                            \
  {                                                           \
      entry<ExtremeFold<uint8_t, DType::Bool, largest>>(),    \
      entry<ExtremeFold<int32_t, DType::Int32, largest>>(),   \
      entry<ExtremeFold<int64_t, DType::Int64, largest>>(),   \
      entry<ExtremeFold<float, DType::Float32, largest>>(),   \
      entry<ExtremeFold<double, DType::Float64, largest>>(),  \
      entry<ExtremeFold<uint64_t, DType::UInt64, largest>>(), \
  }
#define PULLBACK_LOGIC(every)                                                  \
  {                                                                            \
      entry<LogicFold<uint8_t, every>>(), entry<LogicFold<int32_t, every>>(),  \
      entry<LogicFold<int64_t, every>>(), entry<LogicFold<float, every>>(),    \
      entry<LogicFold<double, every>>(),  entry<LogicFold<uint64_t, every>>(), \
  }

constinit const FoldTable kFoldTable = {{
    {
        entry<SumFold<uint8_t, int64_t, traits(DType::Bool).accumulator>>(),
        entry<SumFold<int32_t, int64_t, traits(DType::Int32).accumulator>>(),
        entry<SumFold<int64_t, int64_t, traits(DType::Int64).accumulator>>(),
        entry<SumFold<float, double, traits(DType::Float32).accumulator>>(),
        entry<SumFold<double, double, traits(DType::Float64).accumulator>>(),
        entry<SumFold<uint64_t, uint64_t, traits(DType::UInt64).accumulator>>(),
    },
    PULLBACK_EXTREMES(true),
    PULLBACK_EXTREMES(false),
    PULLBACK_LOGIC(true),
    PULLBACK_LOGIC(false),
}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
