// The m:: functions that elementwise.def names: one element in, one element out.
//
// Plain scalar templates over uint8_t (bool), int32_t, int64_t, float and double; the loops around
// them are in elementwise.cpp. What happens at NaN, infinities, signed zeros, ties and outside a
// domain is decided here and nowhere else. Sections: choice and rounding, hyperbolic and
// activations, what still calls libm, integers and division.
//
// The rules of vec_exp.h hold here too: anonymous namespace, nothing of std::.
#pragma once

#include "backend/cpu/kernels/vec_exp.h"
#include "backend/cpu/kernels/vec_trig.h"

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

// A NaN operand wins; +0 is larger than -0. So the order of a fold changes nothing.
template <class T>
PULLBACK_INLINE T maximum(T a, T b) {
  if constexpr (kFloat<T>) {
    using Bits = typename Real<T>::Bits;
    const T tie = bits_as<T>(bits_as<Bits>(a) & bits_as<Bits>(b));
    const T larger = a == b ? tie : (a > b ? a : b);
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
    const T smaller = a == b ? tie : (a < b ? a : b);
    return isnan(a) ? a : smaller;
  } else {
    return a < b ? a : b;
  }
}
template <class T>
PULLBACK_INLINE T clip(T a, T low, T high) {
  return minimum(maximum(a, low), high);
}
// The part of a cotangent of maximum(a, b) that goes to a.
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
PULLBACK_INLINE T step(T a) {
  return isnan(a) ? a : static_cast<T>(a > T(0));
}
template <class T>
PULLBACK_INLINE T relu(T a) {
  return a <= T(0) ? T(0) : a;  // a NaN is not <= 0
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
#undef PULLBACK_ROUNDING

// --- roots, hyperbolic functions, activations

PULLBACK_INLINE float sqrt(float a) { return __builtin_sqrtf(a); }
PULLBACK_INLINE double sqrt(double a) { return __builtin_sqrt(a); }

// What a quotient q = top / bottom lost, times bottom. Zero where it cannot be had exactly.
template <class F>
PULLBACK_INLINE F division_rest([[maybe_unused]] F top, [[maybe_unused]] F bottom,
                                [[maybe_unused]] F q) {
#if defined(__FMA__) && !defined(PULLBACK_NO_FMA)
  return mad(-q, bottom, top);
#else
  return F(0);
#endif
}

template <class F>
PULLBACK_INLINE F rsqrt(F a) {
  const F root = sqrt(a);
  const F q = F(1) / (a == F(0) ? F(0) : root);  // of -0 too: +infinity
  // (1 - a q^2) q / 2 is missing; at 0 and infinity that is NaN.
  const F aq = a * q;
  const F better = mad(F(0.5) * q, division_rest(F(1), aq, q) + division_rest(aq, a, q) * q, q);
  return isnan(better) ? q : better;
}
template <class F>
PULLBACK_INLINE F log_slope(F a) {
  return a < F(0) ? kNaN<F> : F(1) / magnitude(a);
}

// exp(x) for x <= 0 with the part that its rounding loses, as long as neither is subnormal.
template <class F>
PULLBACK_INLINE TwoPart<F> exp_two(F x) {
  const ExpParts<F> p = exp_parts(clamp_for_exp(x, Real<F>::kExpLow));
  const TwoPart<F> y = one_plus(p);
  return {scaled(y.high, p.n), scaled(y.low, p.n)};
}

// num / (1 + e), num being 1 or e, corrected for what 1 + e, e and the division lose.
template <class F>
PULLBACK_INLINE F sigmoid(F a) {
  const TwoPart<F> e = exp_two(-magnitude(a));
  const bool negative = a < F(0);
  const F top = negative ? e.high : F(1);
  const F den = F(1) + e.high;
  const F den_low = (e.high - (den - F(1))) + e.low;
  const F q = top / den;
  const F error = (division_rest(top, den, q) + (negative ? e.low : F(0))) - q * den_low;
  const F inverse = negative ? F(1) - q : q;
  return mad(error, inverse, q);
}

// tanh(a) = a + a^3 P(a^2) below kTanhCut, else 1 - 2 / (exp(2a) + 1); one division for both.
template <class F>
constexpr F kTanhCut = F(0.55);
PULLBACK_INLINE float tanh_top(float z) {
  return polynomial(z, -0x1.55554cp-2f, 0x1.110d3cp-3f, -0x1.b92bbap-5f, 0x1.59568ap-6f,
                    -0x1.9bba7ep-8f);
}
PULLBACK_INLINE float tanh_bottom(float) { return 1.0f; }
// Cephes tanh.c
PULLBACK_INLINE double tanh_top(double z) {
  return polynomial(z, -1.61468768441708447952E3, -9.92877231001918586564E1,
                    -9.64399179425052238628E-1);
}
PULLBACK_INLINE double tanh_bottom(double z) {
  return polynomial(z, 4.84406305325125486048E3, 2.23548839060100448583E3, 1.12811678491632931402E2,
                    1.0);
}

template <class F>
PULLBACK_INLINE F tanh(F x) {
  const F a = magnitude(x);
  const bool small = a < kTanhCut<F>;
  const F z = a * a;
  const F far = a > F(22) ? F(22) : a;
  const ExpParts<F> p = exp_parts(F(2) * far);
  const F scale = power_of_two<F>(p.n);
  const TwoPart<F> y = one_plus(p);
  const F e = y.high * scale;
  const F den = e + F(1);
  const F den_low = (F(1) - (den - e)) + y.low * scale;
  const F top = small ? a * (z * tanh_top(z)) : F(-2);
  const F bottom = small ? tanh_bottom(z) : den;
  const F q = top / bottom;
  const F error = small ? F(0) : (division_rest(top, bottom, q) - q * den_low) * (F(-0.5) * q);
  const F base = small ? a : F(1);
  const F sum = base + q;
  const F lost = q - (sum - base);
  return with_sign_of(sum + (lost + error), x);
}

// 4 e / (1 + e)^2 with e = exp(-2|a|).
template <class F>
PULLBACK_INLINE F tanh_slope(F a) {
  const F e = exp(F(-2) * magnitude(a));
  const F den = F(1) + e;
  const F den_low = e - (den - F(1));
  const F square = mad(F(2) * den, den_low, den * den);
  return F(4) * e / square;
}
template <class F>
struct TanhParts {
  F value, slope;
};
template <class F>
PULLBACK_INLINE TanhParts<F> tanh_parts(F a) {
  return {tanh(a), tanh_slope(a)};
}
template <class F>
PULLBACK_INLINE F softplus(F a) {
  const F positive = a <= F(0) ? F(0) : a;
  const TwoPart<F> e = exp_two(-magnitude(a));
  return positive + log1p_two(e.high, e.low);
}

// --- libm

#define PULLBACK_LIBM2(name)                                                         \
  PULLBACK_INLINE float name(float a, float b) { return __builtin_##name##f(a, b); } \
  PULLBACK_INLINE double name(double a, double b) { return __builtin_##name(a, b); }
PULLBACK_LIBM2(pow)
PULLBACK_LIBM2(fmod)
#undef PULLBACK_LIBM2

template <class F>
PULLBACK_INLINE F pow_da(F a, F b) {
  return b == F(0) ? F(0) : b * pow(a, b - F(1));
}
template <class F>
PULLBACK_INLINE F pow_db(F a, F b) {
  if (a == F(0)) return b >= F(0) ? F(0) : kNaN<F>;
  if (a < F(0)) return kNaN<F>;
  return pow(a, b) * log(a);
}

// --- integers and Python's division. The kernel has rejected b == 0 and b < 0 before it comes
// here.

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

template <class I>
  requires(!kFloat<I>)
PULLBACK_INLINE I floor_divide(I a, I b) {
  if (b == -1) return -a;  // the smallest integer wraps instead of trapping
  const I q = a / b;
  return q - static_cast<I>((a % b != 0) & ((a < 0) != (b < 0)));
}
template <class I>
  requires(!kFloat<I>)
PULLBACK_INLINE I remainder(I a, I b) {
  if (b == -1) return 0;
  const I r = a % b;
  return (r != 0) & ((r < 0) != (b < 0)) ? r + b : r;
}

// Python's: the sign of b, and floor_divide(a, b) * b + remainder(a, b) == a as near as can be.
template <class F>
  requires(kFloat<F>)
PULLBACK_INLINE F remainder(F a, F b) {
  const F r = fmod(a, b);
  if (r == F(0)) return with_sign_of(F(0), b);
  return (r < F(0)) != (b < F(0)) ? r + b : r;
}
template <class F>
  requires(kFloat<F>)
PULLBACK_INLINE F floor_divide(F a, F b) {
  if (b == F(0)) return a / b;
  const F r = fmod(a, b);
  F q = (a - r) / b;
  if (r != F(0) && (r < F(0)) != (b < F(0))) q -= F(1);
  if (q == F(0)) return with_sign_of(F(0), a / b);
  const F whole = floor(q);
  return q - whole > F(0.5) ? whole + F(1) : whole;
}

// --- casts

// To integers: saturating, NaN gives 0; integers wrap. To bool: is it nonzero.
template <class To, class From>
PULLBACK_INLINE To cast(From a) {
  if constexpr (sizeof(To) == 1) {
    return static_cast<To>(a != From(0));
  } else if constexpr (kFloat<From> && !kFloat<To>) {
    constexpr From limit = static_cast<From>(uint64_t{1} << (8 * sizeof(To) - 1));
    constexpr To largest = static_cast<To>((uint64_t{1} << (8 * sizeof(To) - 1)) - 1);
    const bool inside = (a >= -limit) & (a < limit);
    const To value = static_cast<To>(inside ? a : From(0));
    const To outside = a >= limit ? largest : (a < -limit ? -largest - 1 : To(0));
    return inside ? value : outside;
  } else {
    return static_cast<To>(a);
  }
}

}  // namespace m
}  // namespace
}  // namespace pullback
