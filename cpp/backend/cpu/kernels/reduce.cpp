// Folds of one tile into accumulators: sum, max, min, all, any.
//
// The order of the additions depends on the sizes alone, never on the instruction set: a row runs
// in kLanes lanes that are combined as a tree, the rest of it in smaller trees; columns run row by
// row (narrow ones several rows at a time). float32 sums accumulate in float64, bool and int32 in
// int64, where they wrap. How tiles are cut and combined is in group_run.cpp. Compiled once per
// instruction set, flags as elementwise.cpp.
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_math.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kNarrow = 64;  // columns are folded at least this many values at a time

// clang-format off
template <bool first, class T, class> struct Choose { using type = T; };
template <class T, class U> struct Choose<false, T, U> { using type = U; };
// clang-format on

template <class T, class Sum, DType dtype>
struct SumFold {
  using Value = T;
  using Accumulator = Sum;
  static constexpr DType kType = dtype;
  static constexpr Op kMerge = Op::add;
  static constexpr Sum kIdentity = 0;
  PULLBACK_INLINE static Sum lift(T a) { return static_cast<Sum>(a); }
  PULLBACK_INLINE static Sum merge(Sum a, Sum b) { return a + b; }
  PULLBACK_INLINE static Sum value(Sum a) { return a; }
};

// The largest or smallest of a row of floats, through integers of the same order (all NaNs on top,
// +0 above -0): one instruction compares them. The order of this fold changes nothing.
template <class T, bool largest>
struct KeyFold {
  using Value = T;
  using Bits = typename m::Real<T>::Bits;
  using Accumulator = typename Choose<sizeof(T) == 4, int32_t, int64_t>::type;
  using Key = Accumulator;
  static constexpr Bits kFlip = largest ? 0 : m::Real<T>::kSign;  // the smallest is -max(-x)
  static constexpr Key kMost = static_cast<Key>(m::Real<T>::kSign - 1);
  static constexpr Key kShift =
      (Key{1} << (sizeof(T) == 4 ? 23 : 52)) - 1;  // takes -infinity to the end
  static constexpr Key kInfinity = static_cast<Key>(kMost - kShift - kShift);
  static constexpr Key kIdentity = -kMost - 1;
  // Its own inverse.
  PULLBACK_INLINE static Key ordered(Key bits) {
    return bits ^ ((bits >> (8 * sizeof(T) - 1)) & kMost);
  }
  PULLBACK_INLINE static Key lift(T a) {
    return ordered(static_cast<Key>(m::bits_as<Bits>(a) ^ kFlip)) - kShift;
  }
  PULLBACK_INLINE static Key merge(Key a, Key b) { return a > b ? a : b; }
  PULLBACK_INLINE static T value(Key a) {
    if (a > kInfinity) return m::kNaN<T>;
    return m::bits_as<T>(static_cast<Bits>(ordered(a + kShift)) ^ kFlip);
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
    } else {
      const T top = static_cast<T>((uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
      return largest ? -top - 1 : top;
    }
  }
  static constexpr T kIdentity = identity();
  PULLBACK_INLINE static T lift(T a) { return a; }
  PULLBACK_INLINE static T merge(T a, T b) {
    if constexpr (largest) return m::maximum(a, b);
    return m::minimum(a, b);
  }
  PULLBACK_INLINE static T value(T a) { return a; }
};

template <class T, bool every>
struct LogicFold {
  using Value = T;
  using Accumulator = uint8_t;
  static constexpr DType kType = DType::Bool;
  static constexpr Op kMerge = every ? Op::logical_and : Op::logical_or;
  static constexpr uint8_t kIdentity = every;
  PULLBACK_INLINE static uint8_t lift(T a) { return a != T(0); }  // a NaN is true
  PULLBACK_INLINE static uint8_t merge(uint8_t a, uint8_t b) { return every ? a & b : a | b; }
  PULLBACK_INLINE static uint8_t value(uint8_t a) { return a; }
};

// What folds a row for a fold.
template <class Fold>
struct RowOf {
  using type = Fold;
};
template <DType dtype, bool largest>
struct RowOf<ExtremeFold<float, dtype, largest>> {
  using type = KeyFold<float, largest>;
};
template <DType dtype, bool largest>
struct RowOf<ExtremeFold<double, dtype, largest>> {
  using type = KeyFold<double, largest>;
};

template <class Fold, int64_t lanes>
PULLBACK_INLINE typename Fold::Accumulator fold_lanes(typename Fold::Accumulator* lane) {
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) lane[j] = Fold::merge(lane[j], lane[j + half]);
  }
  return lane[0];
}

template <class Fold, int64_t lanes>
PULLBACK_INLINE typename Fold::Accumulator fold_piece(const typename Fold::Value* x) {
  typename Fold::Accumulator lane[lanes];
  for (int64_t j = 0; j < lanes; ++j) lane[j] = Fold::lift(x[j]);
  return fold_lanes<Fold, lanes>(lane);
}

// The rest of a row goes in pieces of fixed size: lanes whose number is unknown would be kept in
// memory.
template <class Fold>
PULLBACK_INLINE typename Fold::Accumulator fold_row(const typename Fold::Value* x, int64_t n) {
  using Sum = typename Fold::Accumulator;
  if (n < kLanes) {
    Sum sum = Fold::kIdentity;
    for (int64_t i = 0; i < n; ++i) sum = Fold::merge(sum, Fold::lift(x[i]));
    return sum;
  }
  Sum lane[kLanes];
  for (int64_t j = 0; j < kLanes; ++j) lane[j] = Fold::lift(x[j]);
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lane[j] = Fold::merge(lane[j], Fold::lift(x[i + j]));
  }
  Sum sum = fold_lanes<Fold, kLanes>(lane);
  const int64_t rest = n - i;
  x += i;
  if (rest & 8) sum = Fold::merge(sum, fold_piece<Fold, 8>(x)), x += 8;
  if (rest & 4) sum = Fold::merge(sum, fold_piece<Fold, 4>(x)), x += 4;
  if (rest & 2) sum = Fold::merge(sum, fold_piece<Fold, 2>(x)), x += 2;
  if (rest & 1) sum = Fold::merge(sum, Fold::lift(x[0]));
  return sum;
}

// Short rows, kLanes of them next to each other: alone, each would wait for every one of its
// additions.
template <class Fold>
PULLBACK_INLINE void fold_short_rows(const typename Fold::Value* x, int64_t length,
                                     typename Fold::Accumulator* sum) {
  for (int64_t j = 0; j < kLanes; ++j) sum[j] = Fold::kIdentity;
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < kLanes; ++j) {
      sum[j] = Fold::merge(sum[j], Fold::lift(x[j * length + i]));
    }
  }
}

template <class Fold>
void rows(const void* values, int64_t count, int64_t length, void* accumulator) noexcept {
  using Row = typename RowOf<Fold>::type;
  const auto* x = static_cast<const typename Fold::Value*>(values);
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  int64_t r = 0;
  if (length < kLanes) {
    for (; r + kLanes <= count; r += kLanes) {
      typename Row::Accumulator lane[kLanes];
      fold_short_rows<Row>(x + r * length, length, lane);
      for (int64_t j = 0; j < kLanes; ++j) {
        sum[r + j] = Fold::merge(sum[r + j], Row::value(lane[j]));
      }
    }
  }
  for (; r < count; ++r) {
    sum[r] = Fold::merge(sum[r], Row::value(fold_row<Row>(x + r * length, length)));
  }
}

template <class Fold>
void add_rows(const typename Fold::Value* x, int64_t count, int64_t width,
              typename Fold::Accumulator* sum) {
  for (int64_t r = 0; r < count; ++r, x += width) {
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) sum[j] = Fold::merge(sum[j], Fold::lift(x[j]));
  }
}

template <class Fold>
void columns(const void* values, int64_t count, int64_t width, void* accumulator) noexcept {
  const auto* x = static_cast<const typename Fold::Value*>(values);
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  const int64_t group = kNarrow / width;
  if (group >= 2 && count >= 2 * group) {
    typename Fold::Accumulator wide[kNarrow];
    for (auto& w : wide) w = Fold::kIdentity;
    const int64_t groups = count / group;
    add_rows<Fold>(x, groups, group * width, wide);
    x += groups * group * width;
    count -= groups * group;
    for (int64_t g = 0; g < group; ++g) {
      for (int64_t j = 0; j < width; ++j) sum[j] = Fold::merge(sum[j], wide[g * width + j]);
    }
  }
  add_rows<Fold>(x, count, width, sum);
}

template <class F>
constexpr Fold entry() {
  Scalar identity{};
  if constexpr (m::kFloat<typename F::Accumulator>) {
    identity.f = F::kIdentity;
  } else {
    identity.i = F::kIdentity;
  }
  return {F::kType, F::kMerge, identity, &rows<F>, &columns<F>};
}

}  // namespace

namespace PULLBACK_KERNELS {

#define PULLBACK_EXTREMES(largest)                           \
  {                                                          \
      entry<ExtremeFold<uint8_t, DType::Bool, largest>>(),   \
      entry<ExtremeFold<int32_t, DType::Int32, largest>>(),  \
      entry<ExtremeFold<int64_t, DType::Int64, largest>>(),  \
      entry<ExtremeFold<float, DType::Float32, largest>>(),  \
      entry<ExtremeFold<double, DType::Float64, largest>>(), \
  }
#define PULLBACK_LOGIC(every)                                                 \
  {                                                                           \
      entry<LogicFold<uint8_t, every>>(), entry<LogicFold<int32_t, every>>(), \
      entry<LogicFold<int64_t, every>>(), entry<LogicFold<float, every>>(),   \
      entry<LogicFold<double, every>>(),                                      \
  }

constinit const FoldTable kFoldTable = {{
    {
        entry<SumFold<uint8_t, int64_t, DType::Int64>>(),
        entry<SumFold<int32_t, int64_t, DType::Int64>>(),
        entry<SumFold<int64_t, int64_t, DType::Int64>>(),
        entry<SumFold<float, double, DType::Float64>>(),
        entry<SumFold<double, double, DType::Float64>>(),
    },
    PULLBACK_EXTREMES(true),
    PULLBACK_EXTREMES(false),
    PULLBACK_LOGIC(true),
    PULLBACK_LOGIC(false),
}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
