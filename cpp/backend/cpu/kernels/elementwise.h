// The elementwise kernels: one loop per row of elementwise.def and dtype of its domain. Each row
// becomes a struct whose of() is the row's value expression; the loops are three templates. A file
// of dtypes fills its part of the table by filled().
//
// Compiled once per instruction set (see table.h) with -fwrapv -ffp-contract=off -fno-math-errno
// -fno-trapping-math. An output may be the memory of an input of its dtype; `ivdep` is
// valid because such an overlap is exact, so iterations are independent.
//
// Exception: rows whose value calls special:: are scalar. special/special_table.cpp compiles them
// once, and the tables of all instruction sets share them. Those of share_rows.h compute blocks.
#pragma once

#include "backend/cpu/kernels/elementwise_pairs.h"
#include "backend/cpu/kernels/share_rows.h"
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_math.h"
#include "backend/cpu/kernels/wide_float.h"
#include "backend/cpu/special/bessel.h"
#include "backend/cpu/special/entropies.h"
#include "backend/cpu/special/error_functions.h"
#include "backend/cpu/special/gamma.h"

namespace pullback {
namespace {

enum Domain : unsigned {
  A = 0x3f,
  N = 0x3e,
  F = 0x18,
  B = 0x01,
  W = 0x27,
  I = 0x26,
  P = 0x04,
  AC = A,  // complex numbers are computed by operations on their parts
  NC = N,
  FC = F
};  // bit = DType
using traits_detail::Result;

// clang-format off
template <int dtype> struct ElementOf;
template <> struct ElementOf<0> { using type = uint8_t; };
template <> struct ElementOf<1> { using type = int32_t; };
template <> struct ElementOf<2> { using type = int64_t; };
template <> struct ElementOf<3> { using type = float; };
template <> struct ElementOf<4> { using type = double; };
template <> struct ElementOf<5> { using type = uint64_t; };
template <bool first, class T, class> struct Choose { using type = T; };
template <class T, class U> struct Choose<false, T, U> { using type = U; };
// clang-format on
template <int dtype>
using Element = typename ElementOf<dtype>::type;

namespace row {
#define UNARY(name, domain, result, integers, cost, mask, value, ...) \
  struct name {                                                       \
    static constexpr bool kLight = Cost::cost == Cost::Arithmetic;    \
    template <class T>                                                \
    PULLBACK_INLINE static auto of(T a) {                             \
      return value;                                                   \
    }                                                                 \
  };
#define BINARY(name, domain, result, integers, cost, mask, value, ...) \
  struct name {                                                        \
    static constexpr bool kLight = Cost::cost == Cost::Arithmetic;     \
    template <class T>                                                 \
    PULLBACK_INLINE static auto of(T a, T b) {                         \
      return value;                                                    \
    }                                                                  \
  };
#define TERNARY(name, domain, result, integers, cost, mask, value, ...) \
  struct name {                                                         \
    static constexpr bool kLight = Cost::cost == Cost::Arithmetic;      \
    template <class P, class T>                                         \
    PULLBACK_INLINE static auto of(P a, T b, T c) {                     \
      return value;                                                     \
    }                                                                   \
  };
#include "graph/elementwise.def"
}  // namespace row

// Errors of an integer kernel, checked before it writes anything.
template <Op op, class T>
PULLBACK_INLINE int refuses([[maybe_unused]] const T* a, const T* b, int64_t n) {
  if constexpr (m::kFloat<T>) {
    return kFine;
  } else if constexpr (op == Op::floor_divide || op == Op::remainder) {
    int zero = 0;
    for (int64_t i = 0; i < n; ++i) zero |= b[i] == 0;
    return zero ? kZeroDivision : kFine;
  } else if constexpr (op == Op::pow) {
    int negative = 0;
    for (int64_t i = 0; i < n; ++i) negative |= b[i] < 0;
    return negative ? kNegativePower : kFine;
  } else if constexpr (op == Op::wrap_index) {
    int64_t outside = 0;  // its sign, since 64-bit comparisons are slow; see any_outside
    for (int64_t i = 0; i < n; ++i) outside |= (a[i] + b[i]) | (b[i] - 1 - a[i]);
    return outside < 0 ? kIndexOutOfRange : kFine;
  } else {
    return kFine;
  }
}

// Some functions have a branch-free version for a part of their domain. A tile with an argument
// outside of it is computed element by element. Both paths return the same bits for an element.
template <Op op>
constexpr bool kIsAngle = op == Op::sin || op == Op::cos || op == Op::tan || op == Op::sinc;
template <Op op>
constexpr bool kIsGamma = op == Op::gammaln || op == Op::digamma;
// Derivatives of an order, of which the first has a branch-free version.
template <Op op>
constexpr bool kIsDerivative =
    op == Op::sinc_derivative || op == Op::erfcx_derivative || op == Op::polygamma;
template <Op op, class T>
constexpr bool kHasNear =
    m::kFloat<T> && (kIsAngle<op> || op == Op::floor_divide || op == Op::remainder ||
                     kIsGamma<op> || kIsDerivative<op>);

template <Op op, class T>
PULLBACK_INLINE bool is_near(T a, T b) {
  if constexpr (kIsAngle<op>) return m::is_small_angle(a);
  if constexpr (kIsGamma<op>) return m::is_gamma_near(a);
  if constexpr (op == Op::sinc_derivative) return m::is_small_angle(a) & (b == T(1));
  if constexpr (op == Op::erfcx_derivative) return b == T(1);
  if constexpr (op == Op::polygamma) return (a == T(1)) & m::is_gamma_near(b);
  return !m::is_far_quotient(a, b);
}
template <Op op, class T>
PULLBACK_INLINE T near_value(T a, T b) {
  if constexpr (op == Op::sin) return m::sin_small(a);
  if constexpr (op == Op::cos) return m::cos_small(a);
  if constexpr (op == Op::tan) return m::tan_small(a);
  if constexpr (op == Op::sinc) return m::sinc_small(a);
  if constexpr (op == Op::gammaln) return m::gammaln_near(a);
  if constexpr (op == Op::digamma) return m::digamma_near(a);
  if constexpr (op == Op::sinc_derivative) return m::sinc_slope_small(a);
  if constexpr (op == Op::erfcx_derivative) return m::erfcx_slope(a);
  if constexpr (op == Op::polygamma) return m::trigamma_near(b);
  if constexpr (op == Op::remainder) return m::remainder_from(m::fmod_near(a, b), b);
  return m::floor_divide_from(m::fmod_near(a, b), a, b);
}

// Computes the tile if all its arguments are in that part; returns false otherwise.
template <Op op, class T>
PULLBACK_INLINE bool whole_tile_near(T* y, const T* a, const T* b, int64_t n) {
  int far = 0;
  for (int64_t i = 0; i < n; ++i) far |= !is_near<op>(a[i], b[i]);
  if (far) return false;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = near_value<op>(a[i], b[i]);
  return true;
}

// Functions of an order, which is usually the same for a tile, compute tiles; `times` is null for
// those of two arguments.
template <Op op>
constexpr bool kHasOrder =
    op == Op::jn || op == Op::jn_derivative || op == Op::yn || op == Op::yn_derivative ||
    op == Op::iv || op == Op::ive || op == Op::ive_derivative;
template <Op op>
constexpr m::OrderFunction* order_function() {
  if constexpr (op == Op::iv) return m::modified_runs<false>;
  if constexpr (op == Op::ive || op == Op::ive_derivative) return m::modified_runs<true>;
  return m::bessel_runs < op == Op::yn || op == Op::yn_derivative > ;
}

// Large functions are compiled for blocks of this many elements only: the last block is filled up.
// Elements outside of the domain of the branch-free version are computed again, one by one.
constexpr int kBlock = 16;
template <Op op>
constexpr bool kIsWave = op == Op::j0 || op == Op::j1 || op == Op::y0 || op == Op::y1;
template <Op op>
constexpr bool kIsReflected =
    op == Op::gammaln || op == Op::digamma || op == Op::gamma || op == Op::rgamma;
template <Op op>
constexpr bool kHasBlocks =
    kIsWave<op> || kIsReflected<op> || op == Op::i0 || op == Op::i1 || op == Op::i1_slope ||
    op == Op::i0e || op == Op::i0e_slope || op == Op::i1e || op == Op::i1e_slope;
template <Op op, class Row, class T>
PULLBACK_INLINE T block_value(T x) {
  if constexpr (op == Op::gammaln) return m::gammaln_block(x);
  if constexpr (op == Op::digamma) return m::digamma_block(x);
  if constexpr (op == Op::gamma) return m::factorial<m::Factorial::Gamma>(x);
  if constexpr (op == Op::rgamma) return m::factorial<m::Factorial::Reciprocal>(x);
  return Row::of(x);
}
template <Op op, class T>
PULLBACK_INLINE bool is_in_block(T x) {
  return kIsWave<op> ? m::is_bessel_near(x) : m::is_gamma_block(x);
}
template <Op op, class T>
PULLBACK_INLINE T far_value(T x) {
  if constexpr (op == Op::gammaln) return special::gammaln(x);
  if constexpr (op == Op::digamma) return special::digamma(x);
  if constexpr (op == Op::gamma) return special::gamma(x);
  if constexpr (op == Op::rgamma) return special::rgamma(x);
  if constexpr (op == Op::j0) return m::far_bessel<m::kJ0>(x);
  if constexpr (op == Op::j1) return m::far_bessel<m::kJ1>(x);
  if constexpr (op == Op::y0) return m::far_bessel<m::kY0>(x);
  return m::far_bessel<m::kY1>(x);
}
template <Op op, class Row, class T>
[[gnu::noinline]] void block(T* y, const T* from) {
  T x[kBlock];
  for (int i = 0; i < kBlock; ++i) x[i] = from[i];
#pragma GCC ivdep
  for (int i = 0; i < kBlock; ++i) y[i] = block_value<op, Row>(x[i]);
  if constexpr (kIsWave<op> || kIsReflected<op>) {
    for (int i = 0; i < kBlock; ++i) {
      if (!is_in_block<op>(x[i])) y[i] = far_value<op>(x[i]);
    }
  }
}
template <Op op, class Row, class T>
PULLBACK_INLINE void by_blocks(T* y, const T* x, int64_t n) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) block<op, Row>(y + i, x + i);
  if (i == n) return;
  T last[kBlock] = {}, out[kBlock];
  for (int64_t k = i; k < n; ++k) last[k - i] = x[k];
  block<op, Row>(out, last);
  for (int64_t k = i; k < n; ++k) y[k] = out[k - i];
}

// The few functions with a version for 512-bit vectors that is faster than a loop.
template <Op op>
PULLBACK_INLINE bool ran_wide([[maybe_unused]] float* y, [[maybe_unused]] const float* x,
                              [[maybe_unused]] int64_t n) {
#if defined(__AVX512F__)
  if constexpr (op == Op::exp)
    return wide::over_tile(y, x, n, [](__m512 v) { return wide::exp(v); }), true;
  if constexpr (op == Op::tanh)
    return wide::over_tile(y, x, n, [](__m512 v) { return wide::tanh(v); }), true;
  if constexpr (op == Op::tanh_slope)
    return wide::over_tile(y, x, n, [](__m512 v) { return wide::tanh_slope(v); }), true;
#endif
  return false;
}
template <Op op>
PULLBACK_INLINE bool ran_wide([[maybe_unused]] double* y, [[maybe_unused]] const double* x,
                              [[maybe_unused]] int64_t n) {
#if defined(__AVX512F__)
  if constexpr (op == Op::exp)
    return wide::over_tile(y, x, n, [](__m512d v) { return wide::exp(v); }), true;
#endif
  return false;
}

// An iteration takes at least as long as its branch, which on some processors is twice the work of
// a cheap row on one vector. Cheap rows therefore process two vectors per iteration.
template <class Row, class Body>
PULLBACK_INLINE void each(int64_t n, Body body) {
  if constexpr (Row::kLight) {
#pragma GCC ivdep
#pragma GCC unroll 2
    for (int64_t i = 0; i < n; ++i) body(i);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) body(i);
  }
}

template <Op op, class Row, class Out, class T>
int unary(void* out, const void* a, const void*, const void*, int64_t n) noexcept {
  auto* y = static_cast<Out*>(out);
  const auto* x = static_cast<const T*>(a);
  if constexpr (kHasNear<op, T>) {
    if (whole_tile_near<op>(y, x, x, n)) return kFine;
  }
  if constexpr (m::kFloat<T> && sizeof(Out) == sizeof(T)) {
    if (ran_wide<op>(y, x, n)) return kFine;
  }
  if constexpr (kHasBlocks<op>) {
    by_blocks<op, Row>(y, x, n);
  } else {
    each<Row>(n, [=](int64_t i) { y[i] = static_cast<Out>(Row::of(x[i])); });
  }
  return kFine;
}

template <Op op, class Row, class Out, class T>
int binary(void* out, const void* a, const void* b, const void*, int64_t n) noexcept {
  auto* y = static_cast<Out*>(out);
  const auto* x0 = static_cast<const T*>(a);
  const auto* x1 = static_cast<const T*>(b);
  if (const int problem = refuses<op>(x0, x1, n)) return problem;
  if constexpr (kHasNear<op, T>) {
    if (whole_tile_near<op>(y, x0, x1, n)) return kFine;
  }
  if constexpr (kHasOrder<op>) {
    m::by_order<T>(order_function<op>(), y, x0, x1, nullptr, n);
  } else if constexpr (kHasPairs<op>) {
    by_pairs<op>(y, x0, x1, n);
  } else if constexpr (kHasShares<op>) {
    by_shares<op, Row>(y, x0, x1, x1, n);
  } else {
    each<Row>(n, [=](int64_t i) { y[i] = static_cast<Out>(Row::of(x0[i], x1[i])); });
  }
  return kFine;
}

template <Op op, class Row, class Out, class T>
int ternary(void* out, const void* a, const void* b, const void* c, int64_t n) noexcept {
  using Condition = typename Choose<op == Op::where, uint8_t, T>::type;
  auto* y = static_cast<Out*>(out);
  const auto* x0 = static_cast<const Condition*>(a);
  const auto* x1 = static_cast<const T*>(b);
  const auto* x2 = static_cast<const T*>(c);
  if constexpr (kHasOrder<op>) {
    m::by_order<T>(order_function<op>(), y, x0, x1, x2, n);
  } else if constexpr (kHasShares<op>) {
    by_shares<op, Row>(y, x0, x1, x2, n);
  } else {
    each<Row>(n, [=](int64_t i) { y[i] = static_cast<Out>(Row::of(x0[i], x1[i], x2[i])); });
  }
  return kFine;
}

// True if the value of a row is a call of special::.
constexpr bool is_special(const char* value) {
  const char* prefix = "special::";
  while (*prefix && *value == *prefix) ++value, ++prefix;
  return !*prefix;
}

// The rows are compiled in parts: those of an order and of pairs, and those of incomplete gamma and
// beta functions, which are large, for both dtypes in one file each.
enum class Part { Vector, Order, Share, Scalar };
template <Op op>
constexpr Part part_of(const char* value) {
  if (kHasShares<op>) return Part::Share;
  if (is_special(value)) return Part::Scalar;
  return kHasOrder<op> || kHasPairs<op> ? Part::Order : Part::Vector;
}

#define PULLBACK_CELL(shape, name, domain, result, value)                              \
  if constexpr (((domain >> dtype) & 1) && part_of<Op::name>(value) == part) {         \
    using T = Element<dtype>;                                                          \
    using Out = Element<Result::result == Result::Bool ? 0 : dtype>;                   \
    table.of[static_cast<int>(Op::name)][dtype] = &shape<Op::name, row::name, Out, T>; \
  }

// The kernels of one dtype.
template <int dtype, Part part>
constexpr void fill(ElementwiseTable& table) {
#define UNARY(name, domain, result, integers, cost, mask, value, ...) \
  PULLBACK_CELL(unary, name, domain, result, #value)
#define BINARY(name, domain, result, integers, cost, mask, value, ...) \
  PULLBACK_CELL(binary, name, domain, result, #value)
#define TERNARY(name, domain, result, integers, cost, mask, value, ...) \
  PULLBACK_CELL(ternary, name, domain, result, #value)
#include "graph/elementwise.def"
}
#undef PULLBACK_CELL

template <Part part, DType... dtypes>
constexpr ElementwiseTable filled() {
  ElementwiseTable table{};
  (fill<static_cast<int>(dtypes), part>(table), ...);
  return table;
}

}  // namespace
}  // namespace pullback
