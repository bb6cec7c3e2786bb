// The folds: how one row, and as many short rows as a vector has lanes, are folded. Included by
// reduce.cpp, which applies them to tiles. Start at SumFold.
//
// float32 sums accumulate in float64; bool and int32 in int64, which wraps. If the order does not
// matter, rows are plain loops that the compiler vectorises.
#pragma once

#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_math.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

constexpr int64_t kLanes = 16;

template <bool first, class T, class>
struct Choose {
  using type = T;
};
template <class T, class U>
struct Choose<false, T, U> {
  using type = U;
};

// The terms of sums: `before` a value is converted to the accumulator, and `after` that.
struct PlainTerm {
  template <class U>
  PULLBACK_INLINE static U before(const U& a) {
    return a;
  }
  template <class U>
  PULLBACK_INLINE static U after(const U& a) {
    return a;
  }
};
// Squares, rounded to the dtype of the values.
struct SquareTerm : PlainTerm {
  template <class U>
  PULLBACK_INLINE static U before(const U& a) {
    return a * a;
  }
};
// Squares of the values times 2^exponent, in the dtype of the accumulator.
template <int exponent>
struct ScaledSquareTerm : PlainTerm {
  static constexpr double kScale = exponent == 0 ? 1.0 : exponent > 0 ? 0x1p600 : 0x1p-600;
  static_assert(exponent == 0 || exponent == 600 || exponent == -600);
  template <class U>
  PULLBACK_INLINE static U after(const U& a) {
    const U scaled = a * kScale;
    return exponent == 0 ? a * a : scaled * scaled;
  }
};

template <class T, class Sum, DType dtype, class Term = PlainTerm>
struct SumFold {
  using Value = T;
  using Accumulator = Sum;
  static constexpr DType kType = dtype;
  static_assert(size_of(dtype) == sizeof(Sum) && is_float(dtype) == m::kFloat<Sum>);
  static constexpr Op kMerge = Op::add;
  static constexpr Sum kIdentity = 0;
  static constexpr bool kSideBySide = sizeof(T) > 1;   // short rows
  static constexpr bool kInRegisters = sizeof(T) > 1;  // columns
  PULLBACK_INLINE static Sum lift(T a) { return Term::after(static_cast<Sum>(Term::before(a))); }
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
    return add_rest<true>(sum, x + i, n - i);
  }
  // A row in each lane. Its accumulators may need two vectors, each with a name, because vectors
  // that are wider than registers would be stored in memory.
  struct Rows {
    using Vector = typename Lanes<T>::Vector;
    using Sums = typename Lanes<Sum>::Vector;
    static constexpr int kSums = Lanes<Sum>::kCount;
    typedef Sum Wide __attribute__((vector_size(Lanes<T>::kCount * sizeof(Sum))));
    Sums low = {}, high = {};
    PULLBACK_INLINE explicit Rows(const Sum* /*to*/) {}
    template <int first, size_t... j>
    PULLBACK_INLINE static Sums part(const Wide& v, std::index_sequence<j...> /*each*/) {
      return __builtin_shufflevector(v, v, first + static_cast<int>(j)...);
    }
    PULLBACK_INLINE void add(const Vector& v) {
      const auto lifted = __builtin_convertvector(Term::before(v), Wide);
      low += Term::after(part<0>(lifted, std::make_index_sequence<kSums>()));
      if constexpr (sizeof(Sum) > sizeof(T)) {
        high += Term::after(part<kSums>(lifted, std::make_index_sequence<kSums>()));
      }
    }
    PULLBACK_INLINE void store(Sum* to) const {
      Lanes<Sum>::store(to, Lanes<Sum>::load(to) + low);
      if constexpr (sizeof(Sum) > sizeof(T)) {
        Lanes<Sum>::store(to + kSums, Lanes<Sum>::load(to + kSums) + high);
      }
    }
  };
  // In trees of fixed size: lanes of variable number would be stored in memory.
  // `x` has values, or values that are lifted.
  template <bool values, class U>
  PULLBACK_INLINE static Sum add_rest(Sum sum, const U* x, int64_t rest) {
    if (rest & 8) sum += sum_lanes<8, values>(x), x += 8;
    if (rest & 4) sum += sum_lanes<4, values>(x), x += 4;
    if (rest & 2) sum += sum_lanes<2, values>(x), x += 2;
    return rest & 1 ? sum + lifted<values>(x[0]) : sum;
  }
  template <bool value, class U>
  PULLBACK_INLINE static Sum lifted(U a) {
    if constexpr (value) return lift(a);
    return static_cast<Sum>(a);
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
    if (length >= kLanes) return add_rest<false>(tree<kLanes>(state), rest, length % kLanes);
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
  template <int64_t lanes, bool values, class U>
  PULLBACK_INLINE static Sum sum_lanes(const U* x) {
    Sum lane[lanes];
    for (int64_t j = 0; j < lanes; ++j) lane[j] = lifted<values>(x[j]);
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

// The root of a sum of squares, which is summed again with a scale if it is not accurate. The
// squares of float32 values need none.
template <class T>
struct NormFold {
  template <int exponent>
  using Squares = SumFold<T, double, DType::Float64, ScaledSquareTerm<exponent>>;

  // At least 2^-960, which is much larger than the squares that vanish.
  PULLBACK_INLINE static bool is_accurate(double sum) {
    return sizeof(T) == 4 || ((sum >= 0x1p-960) & (sum < m::kInfinity<double>));
  }
  // Of n values, at most kLeaf, and the sum of their squares.
  PULLBACK_INLINE static double root(const T* x, int64_t n, double sum) {
    return is_accurate(sum) ? m::sqrt(sum) : scaled_row(x, n, sum);
  }
  PULLBACK_INLINE static double row(const T* x, int64_t n) {
    return root(x, n, Squares<0>::row(x, n));
  }

 private:
  [[gnu::noinline]] static double scaled_row(const T* x, int64_t n, double sum) {
    if (sum < 0x1p-960) return m::sqrt(Squares<600>::row(x, n)) * 0x1p-600;
    return m::sqrt(Squares<-600>::row(x, n)) * 0x1p600;  // or NaN
  }
};

// The norm of a column of float64, from three sums of squares: of all values that are not large, of
// the large ones times 2^-600, and, used if the first is small, of the small ones times 2^600.
// Every value is in the same sums wherever the rows are cut. Squares of float32 need the first sum
// alone.
struct ColumnNorms {
  static constexpr double kLarge = 0x1p480, kDown = 0x1p-600;
  static constexpr double kSmall = 0x1p-480, kUp = 0x1p600;
  template <class T>
  static constexpr int64_t kParts = sizeof(T) == 4 ? 1 : 3;

  // True if no column has a large value, nor needs its small ones.
  PULLBACK_INLINE static bool are_accurate(const double* sum, int64_t n) {
    int64_t others = 0;
    for (int64_t j = 0; j < n; ++j) {
      others |= (sum[j] >= kSmall * kSmall) & (sum[j] < kLarge * kLarge) ? 0 : 1;
    }
    return others == 0;
  }
  // Adds rows that are `stride` apart to the sums of some columns, which are `part` apart.
  [[gnu::noinline]] static void add_by_size(const double* x, int64_t count, int64_t width,
                                            int64_t stride, double* sum, int64_t part) {
    for (int64_t r = 0; r < count; ++r, x += stride) {
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) {
        const double size = m::bits_as<double>(m::bits_as<int64_t>(x[j]) & INT64_MAX);
        const double down = size * kDown;
        const double up = size * kUp;
        const bool large = !(size < kLarge);  // or NaN
        sum[j] += large ? 0.0 : size * size;
        sum[j + part] += large ? down * down : 0.0;
        sum[j + 2 * part] += size < kSmall ? up * up : 0.0;
      }
    }
  }
  PULLBACK_INLINE static double root(double sum, double large, double small) {
    const double top = m::sqrt(large + sum * kDown * kDown) * kUp;  // or NaN
    const double low = m::sqrt(small) * kDown;
    const double norm = sum >= kSmall * kSmall ? m::sqrt(sum) : low;
    return large == 0 ? norm : top;
  }
};

// With `magnitudes`, of the absolute values of floats.
template <class T, DType dtype, bool largest, bool magnitudes = false>
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
  // Sixteen bytes have no instruction that compares integers of 64 bits.
  static constexpr bool kSideBySide =
      sizeof(T) == 4 || (sizeof(T) == 8 && PULLBACK_KERNELS::kVectorBytes > 16);
  static constexpr bool kInRegisters = false;
  PULLBACK_INLINE static T lift(T a) {
    if constexpr (magnitudes) return m::bits_as<T>(m::bits_as<Key>(a) & kMagnitude);
    return a;
  }
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
  // Floats are compared as integers: the bits of a float, with all but the sign inverted if it is
  // negative, have its order, and -0 comes before +0. A NaN appears as the largest magnitude.
  using Key = typename Choose<m::kFloat<T>, typename Choose<sizeof(T) == 4, int32_t, int64_t>::type,
                              T>::type;
  static constexpr Key kMagnitude = static_cast<Key>(~(Key(1) << (8 * sizeof(T) - 1)));
  PULLBACK_INLINE static Key key(Key bits) { return bits ^ (bits < 0 ? kMagnitude : Key(0)); }
  PULLBACK_INLINE static T value_of(Key best, Key top) {
    return top > m::bits_as<Key>(m::kInfinity<T>) ? m::kNaN<T> : m::bits_as<T>(key(best));
  }
  PULLBACK_INLINE static T float_row(const T* x, int64_t n) {
    Key best = key(m::bits_as<Key>(kIdentity)), top = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Key bits = m::bits_as<Key>(x[i]);
      best = better(best, magnitudes ? bits & kMagnitude : key(bits));
      top = (bits & kMagnitude) > top ? bits & kMagnitude : top;
    }
    return value_of(best, top);
  }
  // A row in each lane.
  struct Rows {
    using L = Lanes<T>;
    using Vector = typename L::Vector;
    using Keys = typename Lanes<Key>::Vector;
    Keys best, top = {};
    PULLBACK_INLINE explicit Rows(const T* to) : best(keys_of(L::load(to))) {
      add_keys(best, L::load(to));
    }
    PULLBACK_INLINE static Keys keys_of(const Vector& v) {
      const auto bits = reinterpret_cast<Keys>(v);
      return m::kFloat<T> ? bits ^ ((bits < 0) & kMagnitude) : bits;
    }
    PULLBACK_INLINE void add(const Vector& v) {
      add_keys(magnitudes ? reinterpret_cast<Keys>(v) & kMagnitude : keys_of(v), v);
    }
    PULLBACK_INLINE void add_keys(const Keys& keys, const Vector& v) {
      best = (largest ? keys > best : keys < best) ? keys : best;
      if constexpr (m::kFloat<T>) {
        const Keys size = reinterpret_cast<Keys>(v) & kMagnitude;
        top = size > top ? size : top;
      }
    }
    PULLBACK_INLINE void store(T* to) const {
      Keys bits = keys_of(reinterpret_cast<Vector>(best));
      if constexpr (m::kFloat<T>) {
        bits = top > m::bits_as<Key>(m::kInfinity<T>) ? Keys{} + m::bits_as<Key>(m::kNaN<T>) : bits;
      }
      L::store(to, reinterpret_cast<Vector>(bits));
    }
  };
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

}  // namespace
}  // namespace pullback
