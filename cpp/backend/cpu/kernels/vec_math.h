// The m:: functions that elementwise.def names: one element in, one element out.
//
// Plain scalar templates over uint8_t (bool), int32_t, int64_t, uint64_t, float and double; the
// loops around them are in elementwise.h. Results for NaN, infinities, signed zeros, ties and
// arguments outside of a domain are defined here and nowhere else. Sections: choice and rounding,
// hyperbolic and activations, integers and division.
//
// The rules of vec_exp.h apply: anonymous namespace, nothing of std::.
#pragma once

#include "backend/cpu/kernels/vec_bessel_i.h"
#include "backend/cpu/kernels/vec_bessel_v.h"
#include "backend/cpu/kernels/vec_entropy.h"
#include "backend/cpu/kernels/vec_error_inverse.h"
#include "backend/cpu/kernels/vec_factorial.h"
#include "backend/cpu/kernels/vec_sigmoid.h"
#include "backend/cpu/kernels/vec_slopes.h"
#include "backend/cpu/kernels/vec_zeta.h"

namespace pullback {
namespace {
namespace m {

template <class T>
constexpr bool kFloat = false;
template <>
constexpr bool kFloat<float> = true;
template <>
constexpr bool kFloat<double> = true;

template <class T>
PULLBACK_INLINE bool isnan(T a) {
  if constexpr (kFloat<T>) return a != a;
  return false;
}
template <class T>
PULLBACK_INLINE bool isfinite(T a) {
  if constexpr (kFloat<T>) return magnitude(a) < kInfinity<T>;
  return true;
}
template <class T>
PULLBACK_INLINE bool isinf(T a) {
  if constexpr (kFloat<T>) return magnitude(a) == kInfinity<T>;
  return false;
}
// Equal, or both NaN.
template <class T>
PULLBACK_INLINE bool same(T a, T b) {
  return (a == b) | (isnan(a) & isnan(b));
}

// --- choice and rounding

// NaN has priority; +0 is larger than -0. So a fold does not depend on its order.
template <class T>
PULLBACK_INLINE T maximum(T a, T b) {
  if constexpr (kFloat<T>) {
    using Bits = typename Real<T>::Bits;
    const T tie = bits_as<T>(bits_as<Bits>(a) & bits_as<Bits>(b));
    T larger = a > b ? a : b;
    larger = a == b ? tie : larger;  // nested in one expression, it takes twice as long
    return isnan(a) ? a : larger;
  } else {
    return a > b ? a : b;
  }
}
template <class T>
PULLBACK_INLINE T minimum(T a, T b) {
  if constexpr (kFloat<T>) {
    using Bits = typename Real<T>::Bits;
    const T tie = bits_as<T>(bits_as<Bits>(a) | bits_as<Bits>(b));
    T smaller = a < b ? a : b;
    smaller = a == b ? tie : smaller;
    return isnan(a) ? a : smaller;
  } else {
    return a < b ? a : b;
  }
}
template <class T>
PULLBACK_INLINE T clip(T a, T low, T high) {
  return minimum(maximum(a, low), high);
}
// The share of the cotangent of maximum(a, b) for a.
template <class F>
PULLBACK_INLINE F max_share(F a, F b) {
  const F ordered = a == b ? F(0.5) : (a > b ? F(1) : F(0));
  const F nan = isnan(b) ? F(0.5) : F(1);
  return isnan(a) ? nan : (isnan(b) ? F(0) : ordered);
}

template <class T>
PULLBACK_INLINE T abs(T a) {
  if constexpr (kFloat<T>) return magnitude(a);
  return a < T(0) ? -a : a;
}
template <class T>
PULLBACK_INLINE T sign(T a) {
  const T s = static_cast<T>((a > T(0)) - (a < T(0)));
  return isnan(a) ? a : s;
}
template <class T>
PULLBACK_INLINE T relu(T a) {
  return a <= T(0) ? T(0) : a;  // false for NaN
}

#define PULLBACK_ROUNDING(name, builtin)         \
  template <class T>                             \
  PULLBACK_INLINE T name(T a) {                  \
    if constexpr (sizeof(T) == 4 && kFloat<T>) { \
      return __builtin_##builtin##f(a);          \
    } else if constexpr (kFloat<T>) {            \
      return __builtin_##builtin(a);             \
    } else {                                     \
      return a;                                  \
    }                                            \
  }
PULLBACK_ROUNDING(round, rint)  // half to even: the rounding mode is never changed
PULLBACK_ROUNDING(floor, floor)
PULLBACK_ROUNDING(ceil, ceil)
PULLBACK_ROUNDING(trunc, trunc)
#undef PULLBACK_ROUNDING

// --- roots, hyperbolic functions, activations

PULLBACK_INLINE float sqrt(float a) { return __builtin_sqrtf(a); }
PULLBACK_INLINE double sqrt(double a) { return __builtin_sqrt(a); }

template <class F>
PULLBACK_INLINE F rsqrt(F a) {
#if !defined(__FMA__)
  if constexpr (sizeof(F) == 4) return static_cast<F>(1.0 / magnitude(sqrt(double{a})));
#endif
  const F root = sqrt(a);
  const F q = F(1) / (a == F(0) ? F(0) : root);  // +infinity for -0 too
  // (1 - a q^2) q / 2 is the missing correction; it is NaN at 0 and infinity.
  const F aq = a * q;
  const F better = mad(F(0.5) * q, division_rest(F(1), aq, q) + division_rest(aq, a, q) * q, q);
  return isnan(better) ? q : better;
}
template <class F>
PULLBACK_INLINE F log_slope(F a) {
  return a < F(0) ? kNaN<F> : F(1) / magnitude(a);
}

// With m = exp(-2|a|) - 1, tanh|a| is -m / (2 + m) and the slope exp(-2|a|) (2 / (2 + m))^2.
PULLBACK_INLINE WithSlope<float> tanh_parts(float a) {
  const float size = magnitude(a);
  const RoughExp e = rough_exp(2.0 * (size > 60.0f ? 60.0f : size));
  const double m = mad(e.scale, e.p, e.scale - 1.0);
  const double inverse = 1.0 / (m + 2.0);
  return {with_sign_of(static_cast<float>(m * inverse), a),
          static_cast<float>(mad(m, inverse, inverse) * (4.0 * inverse))};
}
PULLBACK_INLINE WithSlope<double> tanh_parts(double a) {
  const double size = magnitude(a);
  const ExpParts p = exp_parts(-2.0 * (size > 375.0 ? 375.0 : size));
  // m = 2^n (head + tail) + (2^n - 1), larger terms first, in two parts
  const double scale = scaled(1.0, p.shifted);
  const double base = scale - 1.0;
  const double term = scale * p.head;
  const double sum = base + term;
  const double lost = (term - (sum - base)) + (scale - (base + 1.0));
  const double rest = mad(scale, p.tail, lost);
  const double m = sum + rest;
  const double m_low = rest - (m - sum);
  const double den = 2.0 + m;
  const double den_low = (m - (den - 2.0)) + m_low;
  const double q = -m / den;
  const double error = (division_rest(-m, den, q) - m_low) - q * den_low;
  const double value = mad(error, mad(0.5, q, 0.5), q);  // 1 / den is (1 + q) / 2
  const double both = 1.0 + value;
  return {with_sign_of(value, a), scaled(one_plus(p).high, p.shifted) * both * both};
}
template <class F>
PULLBACK_INLINE F tanh(F a) {
  return tanh_parts(a).value;
}
template <class F>
PULLBACK_INLINE F tanh_slope(F a) {
  return tanh_parts(a).slope;
}

PULLBACK_INLINE double softplus(double a) {
  const TwoPart e = exp_two(-magnitude(a));
  return relu(a) + log1p_two(e.high, e.low);
}
PULLBACK_INLINE float softplus(float a) {
  const float size = magnitude(a);
  const RoughExp parts = rough_exp(-(size > 105.0f ? 105.0f : size));
  const double e = mad(parts.scale, parts.p, parts.scale);
  const double log = rough_log(1.0 + e);
  return static_cast<float>(relu(a) + (e < 0x1p-27 ? e : log));
}

// --- integers and Python's division. The kernel has rejected b == 0 and b < 0 before.

template <class I>
  requires(!kFloat<I>)
PULLBACK_INLINE I pow(I a, I b) {
  I out = 1;
  for (; b > 0; b >>= 1) {
    if (b & 1) out *= a;
    a *= a;
  }
  return out;
}

// a / b rounded towards zero; the smallest integer divided by -1 wraps instead of trapping. For
// int32 it is exact in double, which vectorises.
template <class I>
PULLBACK_INLINE I truncated_quotient(I a, I b) {
  if constexpr (I(-1) > I(0)) return a / b;
  const I divisor = b == I(-1) ? I(1) : b;
  I q;
  if constexpr (sizeof(I) == 4) {
    q = static_cast<I>(static_cast<double>(a) / static_cast<double>(divisor));
  } else {
    q = a / divisor;
  }
  return b == I(-1) ? -a : q;
}
template <class I>
  requires(!kFloat<I>)
PULLBACK_INLINE I floor_divide(I a, I b) {
  const I q = truncated_quotient(a, b);
  const I r = a - q * b;
  return q - static_cast<I>((r != 0) & ((r ^ b) < I(0)));
}
template <class I>
  requires(!kFloat<I>)
PULLBACK_INLINE I remainder(I a, I b) {
  const I r = a - truncated_quotient(a, b) * b;
  return r + ((r != 0) & ((r ^ b) < I(0)) ? b : I(0));
}

template <class F>
  requires(kFloat<F>)
PULLBACK_INLINE F remainder(F a, F b) {
  return remainder_from(fmod(a, b), b);
}
template <class F>
  requires(kFloat<F>)
PULLBACK_INLINE F floor_divide(F a, F b) {
  return floor_divide_from(fmod(a, b), a, b);
}

// --- casts

template <class To, class From>
PULLBACK_INLINE To saturated(From a) {
  constexpr bool kUnsigned = To(-1) > To(0);
  constexpr uint64_t top = uint64_t{1} << (8 * sizeof(To) - 1);
  constexpr From limit = static_cast<From>(top) * (kUnsigned ? 2 : 1);  // the first one out of
                                                                        // range
  constexpr From low = kUnsigned ? From(0) : -limit;
  constexpr To largest = static_cast<To>(kUnsigned ? top - 1 + top : top - 1);
  constexpr To smallest = kUnsigned ? To(0) : static_cast<To>(-largest - 1);
  const bool inside = (a >= low) & (a < limit);
  const To value = static_cast<To>(inside ? a : From(0));
  const To outside = a >= limit ? largest : (a < low ? smallest : To(0));
  return inside ? value : outside;
}

// To integers: saturates, NaN gives 0; integers wrap. To bool: true if nonzero.
template <class To, class From>
PULLBACK_INLINE To cast(From a) {
  if constexpr (sizeof(To) == 1) {
    return static_cast<To>(a != From(0));
  } else if constexpr (kFloat<From> && !kFloat<To>) {
    return saturated<To>(a);
  } else {
    return static_cast<To>(a);
  }
}

}  // namespace m
}  // namespace
}  // namespace pullback
