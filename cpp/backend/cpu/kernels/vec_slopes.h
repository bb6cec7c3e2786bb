// Slopes of inverse functions, written so that nothing cancels near the ends of a domain or
// overflows for large arguments; products with logarithms, remainders, and bits of integers.
#pragma once

#include "backend/cpu/kernels/vec_arc.h"
#include "backend/cpu/kernels/vec_hyperbolic.h"
#include "backend/cpu/kernels/vec_trig.h"

namespace pullback {
namespace {
namespace m {

PULLBACK_INLINE double nextafter(double a, double b) { return __builtin_nextafter(a, b); }
PULLBACK_INLINE float nextafter(float a, float b) { return __builtin_nextafterf(a, b); }

// 1 / sqrt((1 - a) (1 + a))
template <class F>
PULLBACK_INLINE F asin_slope(F a) {
  const double x = a;
  return static_cast<F>(1.0 / __builtin_sqrt((1.0 - x) * (1.0 + x)));
}
// 1 / (1 + a^2)
template <class F>
PULLBACK_INLINE F atan_slope(F a) {
  const double x = a;
  return static_cast<F>(1.0 / (1.0 + x * x));
}
// 1 / sqrt(1 + a^2)
template <class F>
PULLBACK_INLINE F asinh_slope(F a) {
  return static_cast<F>(1.0 / hypot(1.0, double{a}));
}
// 1 / sqrt((a - 1) (a + 1))
template <class F>
PULLBACK_INLINE F acosh_slope(F a) {
  const double x = a;
  return static_cast<F>(1.0 / (__builtin_sqrt(x - 1.0) * __builtin_sqrt(x + 1.0)));
}
// 1 / ((1 - a) (1 + a))
template <class F>
PULLBACK_INLINE F atanh_slope(F a) {
  const double x = a;
  return magnitude(a) > F(1) ? kNaN<F> : static_cast<F>(1.0 / ((1.0 - x) * (1.0 + x)));
}

// b / (a^2 + b^2), scaled; 0 at the origin and for large arguments.
template <class F>
PULLBACK_INLINE F over_square(F a, F b) {
  const double x = a, y = b;
  const double size = magnitude(x) > magnitude(y) ? magnitude(x) : magnitude(y);
  const double p = x / size, q = y / size;
  const double slope = q / (p * p + q * q) / size;
  const bool none = (size == 0.0) | (size == kInfinity<double>);
  return (a != a) | (b != b) ? kNaN<F> : (none ? F(0) : static_cast<F>(slope));
}
// a / hypot(a, b): the cosine of an angle; 0 at the origin.
PULLBACK_INLINE double cosine_of(double a, double b) {
  const double p = magnitude(a), q = magnitude(b), top = p > q ? p : q;
  const bool far_a = p == kInfinity<double>, far_b = q == kInfinity<double>;
  const double scale = top > 0x1p400 ? 0x1p-600 : (top < 0x1p-400 ? 0x1p600 : 1.0);
  const double x = far_a ? with_sign_of(1.0, a) : (far_b ? 0.0 : a * scale);
  const double y = far_b ? 1.0 : (far_a ? 0.0 : b * scale);
  const bool origin = (p == 0.0) & (q == 0.0);
  return (a != a) | (b != b) ? kNaN<double> : (origin ? 0.0 : x / hypot(x, y));
}
PULLBACK_INLINE float cosine_of(float a, float b) {
  return static_cast<float>(cosine_of(double{a}, double{b}));
}

// The larger of two exponents, and the difference, which is 0 for equal ones, even for infinities.
struct Exponents {
  double top, difference;
};
PULLBACK_INLINE Exponents exponents(double a, double b) {
  return {a > b ? a : b, a == b ? 0.0 : magnitude(a - b)};
}
// log(exp(a) + exp(b)), and the same to base 2.
template <class F>
PULLBACK_INLINE F logaddexp(F a, F b) {
  const Exponents e = exponents(a, b);
  return static_cast<F>(e.top + log1p(exp(-e.difference)));
}
template <class F>
PULLBACK_INLINE F logaddexp2(F a, F b) {
  const Exponents e = exponents(a, b);
  return static_cast<F>(e.top + log1p(exp2(-e.difference)) * kLog2e);
}

// a log(b) and a log(1 + b); 0 if a is 0, unless b is NaN.
template <class F>
PULLBACK_INLINE F xlogy(F a, F b) {
  return (a == F(0)) & (b == b) ? F(0) : static_cast<F>(double{a} * log(double{b}));
}
template <class F>
PULLBACK_INLINE F xlog1py(F a, F b) {
  return (a == F(0)) & (b == b) ? F(0) : static_cast<F>(double{a} * log1p(double{b}));
}

template <class F>
PULLBACK_INLINE bool signbit(F a) {
  using R = Real<F>;
  return (bits_as<typename R::Bits>(a) & R::kSign) != 0;
}
template <class F>
PULLBACK_INLINE F heaviside(F a, F b) {
  const F side = a > F(0) ? F(1) : F(0);
  return a != a ? a : (a == F(0) ? b : side);
}
// The remainder with the sign of a.
template <class F>
PULLBACK_INLINE F fmod(F a, F b) {
  const F r = is_far_quotient(a, b) ? fmod_far(a, b) : fmod_near(a, b);
  return r == F(0) ? with_sign_of(r, a) : r;
}

// --- bits of integers; a bool (uint8_t) has one

template <class I>
PULLBACK_INLINE I invert(I a) {
  if constexpr (sizeof(I) == 1 && I(-1) > I(0)) return !a;
  return ~a;
}
// Shifts drop the bits that leave at one end.
template <class I>
PULLBACK_INLINE I left_shift(I a, I b) {
  constexpr I bits = 8 * sizeof(I);
  return (b < 0) | (b >= bits) ? I(0) : static_cast<I>(a << (b & (bits - 1)));
}
template <class I>
PULLBACK_INLINE I right_shift(I a, I b) {
  constexpr I bits = 8 * sizeof(I);
  if constexpr (I(-1) > I(0)) return b >= bits ? I(0) : a >> (b & (bits - 1));
  return a >> ((b < 0) | (b >= bits) ? bits - 1 : b);
}

}  // namespace m
}  // namespace
}  // namespace pullback
