// The logistic function with its slope, and functions computed alike: slopes of logaddexp,
// softsign.
#pragma once

#include "backend/cpu/kernels/vec_exp.h"

namespace pullback {
namespace {
namespace m {

// exp(x) for x <= 0 with its rounding error, as long as neither is subnormal.
PULLBACK_INLINE TwoPart exp_two(double x) {
  const ExpParts p = exp_parts(x < -746.0 ? -746.0 : x);
  const TwoPart y = one_plus(p);
  return {scaled(y.high, p.shifted), scaled(y.low, p.shifted)};
}

// A function and its slope, which share an exponential. Unused results cost nothing.
template <class F>
struct WithSlope {
  F value, slope;
};

// num / (1 + e), where num is 1 or e = exp(-|a|), corrected by the rounding errors of 1 + e, e and
// the division. The slope is e / (1 + e)^2.
PULLBACK_INLINE WithSlope<double> sigmoid_parts(double a) {
  const TwoPart e = exp_two(-magnitude(a));
  const bool negative = a < 0.0;
  const double top = negative ? e.high : 1.0;
  const double den = 1.0 + e.high;
  const double den_low = (e.high - (den - 1.0)) + e.low;
  const double q = top / den;
  const double error = (division_rest(top, den, q) + (negative ? e.low : 0.0)) - q * den_low;
  const double inverse = negative ? 1.0 - q : q;
  const double value = mad(error, inverse, q);
  return {value, (negative ? 1.0 - value : e.high * value) * value};
}
PULLBACK_INLINE WithSlope<float> sigmoid_parts(float a) {
  const RoughExp parts = rough_exp(-clamped(a, -105.0f, 105.0f));
  const double e = mad(parts.scale, parts.p, parts.scale);
  const double value = 1.0 / (1.0 + e);
  return {static_cast<float>(value), static_cast<float>(e * value * value)};
}
template <class F>
PULLBACK_INLINE F sigmoid(F a) {
  return sigmoid_parts(a).value;
}
template <class F>
PULLBACK_INLINE F sigmoid_slope(F a) {
  return sigmoid_parts(a).slope;
}

// The derivative of logaddexp (to a base) by a: 1 / (1 + base^(b - a)). The rounding errors of the
// difference and the product would be many ulp of a small slope.
PULLBACK_INLINE double share(double a, double b, double log_base, double log_base_low) {
  const double difference = a == b ? 0.0 : a - b;
  const double part = difference - a;
  const double lost = (a - (difference - part)) - (b + part);
  const double x = log_base * difference;
  const double low =
      product_rest(log_base, difference, x) + (log_base_low * difference + log_base * lost);
  const WithSlope<double> y = sigmoid_parts(x);
  const double better = y.value + low * y.slope;
  return better == better ? better : y.value;
}
PULLBACK_INLINE float share(float a, float b, double log_base, double) {
  const double difference = a == b ? 0.0 : double{a} - double{b};
  const RoughExp e = rough_exp(clamped(-log_base * difference, -105.0, 105.0));
  return static_cast<float>(1.0 / (1.0 + mad(e.scale, e.p, e.scale)));
}
template <class F>
PULLBACK_INLINE F logaddexp_slope(F a, F b) {
  return share(a, b, 1.0, 0.0);
}
template <class F>
PULLBACK_INLINE F logaddexp2_slope(F a, F b) {
  return share(a, b, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
}

// 1 / (1 + |a|), and its rounding error.
PULLBACK_INLINE TwoPart softsign_root(double a) {
  const double size = magnitude(a), bottom = 1.0 + size;
  const double lost = size < 1.0 ? size - (bottom - 1.0) : 1.0 - (bottom - size);
  const double q = 1.0 / bottom;
  const double low = (division_rest(1.0, bottom, q) - q * lost) * q;
  return {q, low == low ? low : 0.0};
}
PULLBACK_INLINE double softsign_slope(double a) {
  const TwoPart root = softsign_root(a);
  const double y = root.high * root.high;
  return y + (product_rest(root.high, root.high, y) + 2.0 * root.high * root.low);
}
PULLBACK_INLINE float softsign_slope(float a) {
  const double root = 1.0 / (1.0 + magnitude(a));
  return static_cast<float>(root * root);
}
PULLBACK_INLINE double softsign(double a) {
  const TwoPart root = softsign_root(a);
  const double y = a * root.high;
  const double low = product_rest(a, root.high, y) + a * root.low;
  return with_sign_of(low == low ? y + low : y, a);
}
PULLBACK_INLINE float softsign(float a) { return static_cast<float>(a / (1.0 + magnitude(a))); }

}  // namespace m
}  // namespace
}  // namespace pullback
