// The inverses of erf, erfc and ndtr with their derivatives. All use the y with erfc(y) = q and the
// sign of x = erf(y): for q >= 1/2 by a polynomial in x^2, else from q. Start at erf_inverse().
//
// From q: y starts as s times a quotient of polynomials in s = sqrt(-log(q)), accurate to 2e-9,
// which is enough for float. For double one step of Halley's method on erfc follows; the function Q
// (vec_error.h) gives the value and the derivative.
#pragma once

#include "backend/cpu/kernels/vec_error.h"

namespace pullback {
namespace {
namespace m {

// The logarithm of q 2^54: a subnormal q would have none. A constant result in such lanes would
// slow down the others.
PULLBACK_INLINE double inverse_start(double q) {
  const double wide = q * 0x1p54, least = wide > 0x1p-1020 ? wide : 0x1p-1020;
  const double s = __builtin_sqrt(54.0 * kLn2 - rough_log(least));
  return s * polynomial_of(kStartTop, s) / polynomial_of(kStartBottom, s);
}

// A number y >= 0 in two parts, and exp(y.high^2).
struct ErfInverse {
  TwoPart y;
  ScaledTwo growth;
};
// The y with erf(y) = |x| and erfc(y) = q. q is exact below 1/2, else x is.
PULLBACK_INLINE ErfInverse erf_inverse(double x, double q) {
  const double size = magnitude(x), square = size * size;
  const bool central = q >= 0.5;
  const double curve = square * polynomial_of<1>(kCentre, square);
  const TwoPart ratio = quick_sum(kCentre[0], curve);
  const TwoPart centre = quick_sum(size, mad(size, ratio.high, size * (ratio.low + kCentreLow)));
  const double y = central ? centre.high : inverse_start(q);
  const double z = y * y;
  const ExpParts p = exp_parts(z, product_rest(y, y, z));
  const ScaledTwo growth = {one_plus(p), p.shifted};
  // Halley's step on erfc(y) - q: with e = (1 - q / erfc(y)) / (2 (y + Q)), e + y e^2
  const Tail at = tail({y, 0.0});
  const double scaled_q = scaled(q, growth.shifted);  // exact
  const TwoPart ours = product(scaled_q, product(product(kRootPi, growth.y), at.bottom));
  const double difference = (ours.high - at.top.high) + (ours.low - at.top.low);
  const double newton = -0.5 * difference / at.bottom.high;
  const double step = mad(y * newton, newton, newton);
  return {{y, central ? centre.low : step}, growth};
}

// The value of an inverse at the ends of its domain and outside. (Slopes overflow at the ends.)
template <class F>
PULLBACK_INLINE F inverse_checked(double y, double x, double q) {
  const double end = q == 0.0 ? kInfinity<double> : y;
  return q >= 0.0 ? static_cast<F>(with_sign_of(end, x)) : kNaN<F>;
}
template <class F>
  requires(sizeof(F) == 8)
PULLBACK_INLINE F inverse_value(TwoPart factor, double x, double q) {
  const TwoPart y = product(factor, erf_inverse(x, q).y);
  return inverse_checked<double>(y.high + y.low, x, q);
}
// factor exp(y^2)
template <class F>
  requires(sizeof(F) == 8)
PULLBACK_INLINE F inverse_growth(TwoPart factor, double x, double q) {
  const ErfInverse at = erf_inverse(x, q);
  const double more = at.y.low * (2.0 * at.y.high + at.y.low);
  TwoPart growth = product(factor, at.growth.y);
  growth.low += growth.high * mad(0.5 * more, more, more);
  const double size = rounded({growth, at.growth.shifted});
  return q >= 0.0 ? size : kNaN<F>;
}

PULLBACK_INLINE double smaller(double a, double b) { return a < b ? a : b; }

constexpr TwoPart kOne = {1.0, 0.0};
constexpr TwoPart kHalfRootPi = {0x1.c5bf891b4ef6bp-1, -0x1.618f13eb7ca89p-55};
constexpr TwoPart kMinusHalfRootPi = {-kHalfRootPi.high, -kHalfRootPi.low};
constexpr TwoPart kRootTwoPi = {0x1.40d931ff62706p+1, -0x1.a6a0d6f814637p-53};

// --- float, in double

PULLBACK_INLINE double rough_erf_inverse(double x, double q) {
  const double size = magnitude(x);
  const double centre = mad(size, polynomial_of(kRoughCentre, size * size), size);
  return q >= 0.5 ? centre : inverse_start(q);
}
template <class F>
  requires(sizeof(F) == 4)
PULLBACK_INLINE F inverse_value(TwoPart factor, double x, double q) {
  return inverse_checked<F>(factor.high * rough_erf_inverse(x, q), x, q);
}
// factor exp(y^2) = factor / (sqrt(pi) q (y + Q(y)))
template <class F>
  requires(sizeof(F) == 4)
PULLBACK_INLINE F inverse_growth(TwoPart factor, double x, double q) {
  const RoughTail at = rough_tail(rough_erf_inverse(x, q));
  const double size = factor.high * kPerRootPi.high * at.top / magnitude(q * at.bottom);
  return q >= 0.0 ? static_cast<F>(size) : kNaN<F>;
}

// --- the functions

template <class F>
PULLBACK_INLINE F erfinv(F a) {
  const double x = a;
  return inverse_value<F>(kOne, x, 1.0 - magnitude(x));
}
template <class F>
PULLBACK_INLINE F erfinv_slope(F a) {
  const double x = a;
  return inverse_growth<F>(kHalfRootPi, x, 1.0 - magnitude(x));
}
template <class F>
PULLBACK_INLINE F erfcinv(F a) {
  const double q = a;
  return inverse_value<F>(kOne, 1.0 - q, smaller(q, 2.0 - q));
}
template <class F>
PULLBACK_INLINE F erfcinv_slope(F a) {
  const double q = a;
  return inverse_growth<F>(kMinusHalfRootPi, 1.0 - q, smaller(q, 2.0 - q));
}
template <class F>
PULLBACK_INLINE F ndtri(F a) {
  const double p = a;
  return inverse_value<F>(kRootTwo, 2.0 * p - 1.0, smaller(2.0 * p, 2.0 - 2.0 * p));
}
template <class F>
PULLBACK_INLINE F ndtri_slope(F a) {
  const double p = a;
  return inverse_growth<F>(kRootTwoPi, 2.0 * p - 1.0, smaller(2.0 * p, 2.0 - 2.0 * p));
}

}  // namespace m
}  // namespace
}  // namespace pullback
