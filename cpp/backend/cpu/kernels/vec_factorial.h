// gamma, 1 / gamma and their first derivatives, branch-free. They are two quotients of products in
// two parts: below kAsymptotic from a polynomial for gamma(2 + w), above it from Stirling's series,
// for negative numbers by gamma(x) gamma(-x) = -pi / (x sin(pi x)). float computes in double.
#pragma once

#include "backend/cpu/kernels/vec_gamma.h"

namespace pullback {
namespace {
namespace m {

constexpr double kLargestGamma = 190.0;  // gamma overflows, and 1 / gamma is 0, before

// gamma(a) = 2^n top / bottom for kTinyGamma <= a <= kLargestGamma.
struct GammaParts {
  TwoPart top, bottom;
  uint64_t n;
};
PULLBACK_INLINE GammaParts gamma_parts(double a) {
  const Shifted at = shifted_to_two(a);
  // 1 + w (c0 + w …)
  constexpr TwoPart c0 = {static_cast<double>(special::kGamma[0]),
                          static_cast<double>(special::kGammaLow[0])};
  const TwoPart slope = quick_sum(c0.high, at.w * series<21, 1>(special::kGamma, at.w));
  const TwoPart rise = two_product(at.w, slope.high);
  TwoPart near = quick_sum(1.0, rise.high);
  near.low += rise.low + at.w * (slope.low + c0.low);
  // exp((a - 1/2) log(a) - a + log(2 pi) / 2 + …)
  const TwoPart log = log_two(a), main = two_product(a - 0.5, log.high);
  const TwoPart first = two_sum(main.high, -a), sum = two_sum(first.high, 0x1.d67f1c864beb5p-1);
  const double r = 1.0 / a;
  const double rest = mad(a - 0.5, log.low, r * series<9>(special::kStirling, r * r));
  const double low = sum.low + (first.low + main.low) + (rest - 0x1.65b5a1b7ff5dfp-55);
  const bool large = a >= kAsymptotic;
  const ExpParts power = exp_parts(large ? sum.high : 0.0, large ? low : 0.0);
  const TwoPart far = one_plus(power);
  // The factor is a divisor or multiplies; the other one is 1.
  const TwoPart grown =
      product(near, {at.is_divisor ? 1.0 : at.factor.high, at.is_divisor ? 0.0 : at.factor.low});
  return {{large ? far.high : grown.high, large ? far.low : grown.low},
          {at.is_divisor ? at.factor.high : 1.0, at.is_divisor ? at.factor.low : 0.0},
          large ? power.shifted : bits_as<uint64_t>(kRound)};
}

enum class Factorial { Gamma, GammaSlope, Reciprocal, ReciprocalSlope };

// Valid for -kReflected < x < infinity.
template <Factorial which>
PULLBACK_INLINE double factorial(double x) {
  const double a = clamped(magnitude(x), kTinyGamma, kLargestGamma);
  const bool left = x < 0.0, tiny = magnitude(x) < kTinyGamma;
  GammaParts parts = gamma_parts(a);
  // gamma(x) = top / (bottom sine), digamma(x) = slope / sine
  const Waves waves = waves_of(left ? x : 0.5);
  const TwoPart sine = waves.sine;
  const TwoPart top = product({-kPi, -kPiLow}, parts.bottom),
                bottom = product({-a, 0.0}, parts.top);
  parts.top = {left ? top.high : parts.top.high, left ? top.low : parts.top.low};
  parts.bottom = {left ? bottom.high : parts.bottom.high, left ? bottom.low : parts.bottom.low};
  const uint64_t n = left ? uint64_t{0} - parts.n : parts.n;
  constexpr bool upper = which == Factorial::Gamma || which == Factorial::GammaSlope;
  TwoPart above = upper ? parts.top : parts.bottom, below = upper ? parts.bottom : parts.top;
  double at_tiny, at_pole = 0.0;
  if constexpr (which == Factorial::Gamma) {
    below = product(below, sine);
    at_tiny = 1.0 / x;
    at_pole = kNaN<double>;
  } else if constexpr (which == Factorial::Reciprocal) {
    above = product(above, sine);
    at_tiny = x;
  } else {
    const TwoPart slope = digamma_two(a);
    const TwoPart beside = product(plus(slope, reciprocal(a)), sine);
    const TwoPart other = plus(beside, product({-kPi, -kPiLow}, waves.cosine));
    above = product(above, {left ? other.high : slope.high, left ? other.low : slope.low});
    if constexpr (which == Factorial::GammaSlope) {
      below = product(below, product(sine, sine));
      at_tiny = -inverse_square(x);
      at_pole = kNaN<double>;
    } else {
      above = {-above.high, -above.low};
      at_tiny = 1.0;
    }
  }
  const TwoPart y = quotient(above, below);
  const double out = scaled(y.high + y.low, upper ? n : uint64_t{0} - n);
  const bool pole = is_pole(x, waves) & (which != Factorial::ReciprocalSlope);
  return tiny ? at_tiny : pole ? at_pole : out;
}
template <Factorial which>
PULLBACK_INLINE float factorial(float x) {
  return static_cast<float>(factorial<which>(static_cast<double>(x)));
}

template <class F>
PULLBACK_INLINE F gamma(F x) {
  return is_gamma_block(x) ? factorial<Factorial::Gamma>(x) : special::gamma(x);
}
template <class F>
PULLBACK_INLINE F rgamma(F x) {
  return is_gamma_block(x) ? factorial<Factorial::Reciprocal>(x) : special::rgamma(x);
}
// The derivatives of an order, beta and its logarithm: the kernels compute them by blocks in double
// (elementwise_pairs.h).
template <class F>
F gamma_nth(F n, F x);
template <class F>
F rgamma_nth(F n, F x);
template <class F>
F beta(F a, F b);
template <class F>
F betaln(F a, F b);
template <class F>
PULLBACK_INLINE bool is_factorial_slope(F n, F x) {
  return (n == F(1)) & is_gamma_block(x);
}

// beta and its logarithm for positive numbers whose sum is at most kLargestGamma.
template <class F>
PULLBACK_INLINE bool is_beta_near(F a, F b) {
  constexpr F least = F(0x1p-100);
  return (a >= least) & (b >= least) & (a + b <= F(kLargestGamma));
}
// digamma(x) to some four digits, for the rounding error of an argument.
PULLBACK_INLINE double rough_digamma(double x) {
  const double r = 1.0 / (x + 2.0), square = r * r;
  const double far = mad(square, mad(square, 1.0 / 120, -1.0 / 12), -0.5 * r);
  return (rough_log(x + 2.0) + far) - (1.0 / x + 1.0 / (x + 1.0));
}
PULLBACK_INLINE double beta_near(double a, double b) {
  const GammaParts first = gamma_parts(a), second = gamma_parts(b);
  const TwoPart sum = two_sum(a, b);
  const GammaParts both = gamma_parts(sum.high);
  const double change = sum.low * rough_digamma(sum.high);
  const TwoPart bottom = product(product(first.bottom, second.bottom), both.top);
  const TwoPart y = quotient(product(product(first.top, second.top), both.bottom), bottom);
  return scaled(y.high + (y.low - y.high * change), first.n + second.n - both.n);
}
PULLBACK_INLINE double betaln_near(double a, double b) {
  const TwoPart sum = two_sum(a, b), both = gammaln_two(sum.high);
  const double change = sum.low * rough_digamma(sum.high);
  const TwoPart top = plus(gammaln_two(a), gammaln_two(b));
  const TwoPart y = plus(top, {-both.high, -(both.low + change)});
  return y.high + y.low;
}
// The sign of gamma; at a pole NaN, but the sign of a zero.
template <class F>
PULLBACK_INLINE F gammasgn(F x) {
  const F whole = sizeof(F) == 4 ? static_cast<F>(__builtin_floorf(static_cast<float>(x)))
                                 : static_cast<F>(__builtin_floor(static_cast<double>(x)));
  const F half = F(0.5) * whole;
  const F even = sizeof(F) == 4 ? static_cast<F>(__builtin_floorf(static_cast<float>(half)))
                                : static_cast<F>(__builtin_floor(static_cast<double>(half)));
  const F left = whole == x ? kNaN<F> : even == half ? F(1) : F(-1);
  return x == F(0) ? with_sign_of(F(1), x) : x < F(0) ? left : x > F(0) ? F(1) : x;
}

}  // namespace m
}  // namespace
}  // namespace pullback
