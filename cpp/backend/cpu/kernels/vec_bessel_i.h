// Modified Bessel functions of orders 0 and 1 and their derivatives. Start at ScaledI: exp(-x) I(x)
// is a polynomial in x / 4 - 1 divided by a power of 1 + x up to 8, and one in 16 / x - 1 divided
// by a power of sqrt(x) beyond. These divisors make the polynomials nearly constant, so their
// rounding errors are small. A lane selects the coefficients of its range, and both take one pass.
// tools/bessel_tables computes them.
#pragma once

#include "backend/cpu/kernels/bessel_tables.h"
#include "backend/cpu/kernels/vec_error.h"

namespace pullback {
namespace {
namespace m {

// Evaluates a polynomial from its coefficient `first` on, as polynomial_of of vec_error.h.
template <int first, int n>
PULLBACK_INLINE double polynomial_of(const Ranges (&c)[n], double x, bool far) {
  const double square = x * x;
  double sum = far ? c[n - 1].far : c[n - 1].near, other = far ? c[n - 2].far : c[n - 2].near;
#pragma GCC unroll 32
  for (int k = n - 3; k >= first; k -= 2) sum = mad(sum, square, far ? c[k].far : c[k].near);
#pragma GCC unroll 32
  for (int k = n - 4; k >= first; k -= 2) other = mad(other, square, far ? c[k].far : c[k].near);
  return (n - first) % 2 ? mad(other, x, sum) : mad(sum, x, other);
}

// What the polynomials are divided by: 1 + x and sqrt(x); (2 + x)^3 and x^(3/2); (1.5 + x)^2 / x
// and sqrt(x).
enum class Divisor { Root, Cube, Square };
template <Divisor divisor>
constexpr double kBase = divisor == Divisor::Root   ? 1.0
                         : divisor == Divisor::Cube ? 2.0
                                                    : 1.5;

template <class T>
PULLBACK_INLINE T pick(bool far, const T& above, const T& below) {
  return {far ? above.high : below.high, far ? above.low : below.low};
}

// exp(-x) times the function for x >= 0, in two parts.
template <Divisor divisor, int n>
PULLBACK_INLINE TwoPart scaled_i(const Ranges (&c)[n], const Ranges (&lost)[2], double x) {
  const bool far = x > 8.0;
  const double t = (far ? 16.0 / x : 0.25 * x) - 1.0;
  const double t_low = far ? 0.0 : 0.25 * x - (t + 1.0);
  const double c0 = far ? c[0].far : c[0].near, c1 = far ? c[1].far : c[1].near;
  const double c0_low = far ? lost[0].far : lost[0].near, c1_low = far ? lost[1].far : lost[1].near;
  const TwoPart slope = two_sum(c1, t * polynomial_of<2>(c, t, far));
  const TwoPart curve = product(t, slope);
  const TwoPart sum = two_sum(c0, curve.high);
  const double low = mad(t_low, slope.high, curve.low) + mad(t, c1_low, c0_low);
  const TwoPart y = quick_sum(sum.high, sum.low + low);
  const TwoPart root = square_root({x, 0.0}), base = two_sum(x, kBase<divisor>);
  if constexpr (divisor == Divisor::Root) return quotient(y, pick(far, root, base));
  const TwoPart square = product(base, base);
  if constexpr (divisor == Divisor::Square) {
    return quotient(product(far ? 1.0 : x, y), pick(far, root, square));
  }
  return quotient(quotient(y, pick(far, TwoPart{x, 0.0}, square)), pick(far, root, base));
}

// exp(x) times it.
template <Divisor divisor, int n>
PULLBACK_INLINE double grown_i(const Ranges (&c)[n], const Ranges (&lost)[2], double x) {
  const double size = size_up_to(720.0, x);
  return rounded(exp_times(scaled_i<divisor>(c, lost, size), {size, 0.0}));
}
// The function itself; large arguments are scaled, so that nothing overflows.
template <Divisor divisor, int n>
PULLBACK_INLINE double fallen_i(const Ranges (&c)[n], const Ranges (&lost)[2], double x) {
  const double size = magnitude(x);
  const bool large = size > 0x1p600;
  const TwoPart y = scaled_i<divisor>(c, lost, large ? size * 0x1p-500 : size);
  constexpr double scale = divisor == Divisor::Cube ? 0x1p-750 : 0x1p-250;
  return (y.high + y.low) * (large ? scale : 1.0);
}

// --- float, in double

template <Divisor divisor, int n>
PULLBACK_INLINE double rough_fallen_i(const Ranges (&c)[n], double x) {
  const bool far = x > 8.0;
  const double y = polynomial_of<0>(c, (far ? 16.0 / x : 0.25 * x) - 1.0, far);
  const double root = __builtin_sqrt(x), base = x + kBase<divisor>, square = base * base;
  if constexpr (divisor == Divisor::Root) return y / (far ? root : base);
  if constexpr (divisor == Divisor::Cube) return y / (far ? x * root : square * base);
  return (far ? y : x * y) / (far ? root : square);
}
template <Divisor divisor, int n>
PULLBACK_INLINE float fallen_i(const Ranges (&c)[n], const Ranges (&)[2], float x) {
  return static_cast<float>(rough_fallen_i<divisor>(c, magnitude(x)));
}
template <Divisor divisor, int n>
PULLBACK_INLINE float grown_i(const Ranges (&c)[n], const Ranges (&)[2], float x) {
  const double size = size_up_to(100.0, x);
  return static_cast<float>(rough_fallen_i<divisor>(c, size) * rough_value(rough_exp(size)));
}

// --- the functions

template <class F>
PULLBACK_INLINE const auto& digits(const auto& of_double, const auto& of_float) {
  if constexpr (sizeof(F) == 8)
    return of_double;
  else
    return of_float;
}
template <class F>
PULLBACK_INLINE F odd(F y, F x) {
  return x < F(0) ? -y : y;
}
template <class F>
PULLBACK_INLINE F unless_infinite(F y, F x) {
  return magnitude(x) == kInfinity<F> ? F(0) : y;
}

template <class F>
PULLBACK_INLINE F i0(F x) {
  return grown_i<Divisor::Root>(digits<F>(kI0, kRoughI0), kI0Low, x);
}
template <class F>
PULLBACK_INLINE F i1(F x) {
  return odd(grown_i<Divisor::Square>(digits<F>(kI1, kRoughI1), kI1Low, x), x);
}
template <class F>
PULLBACK_INLINE F i1_slope(F x) {
  return grown_i<Divisor::Root>(digits<F>(kI1Slope, kRoughI1Slope), kI1SlopeLow, x);
}
template <class F>
PULLBACK_INLINE F i0e(F x) {
  return unless_infinite(fallen_i<Divisor::Root>(digits<F>(kI0, kRoughI0), kI0Low, x), x);
}
template <class F>
PULLBACK_INLINE F i1e(F x) {
  const F y = fallen_i<Divisor::Square>(digits<F>(kI1, kRoughI1), kI1Low, x);
  return unless_infinite(odd(y, x), x);
}
// At 0, where |x| has a kink, the mean of both sides.
template <class F>
PULLBACK_INLINE F i0e_slope(F x) {
  const F y = fallen_i<Divisor::Cube>(digits<F>(kI0eSlope, kRoughI0eSlope), kI0eSlopeLow, x);
  return unless_infinite(x == F(0) ? F(0) : odd(y, x), x);
}
template <class F>
PULLBACK_INLINE F i1e_slope(F x) {
  const F y = fallen_i<Divisor::Cube>(digits<F>(kI1eSlope, kRoughI1eSlope), kI1eSlopeLow, x);
  return unless_infinite(y, x);
}

}  // namespace m
}  // namespace
}  // namespace pullback
