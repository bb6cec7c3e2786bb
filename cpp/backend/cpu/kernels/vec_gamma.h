// log(gamma), digamma and its derivative. These follow special/gamma_parts.h without branches, for
// float in double with the terms that matter, for double in two parts. Functions *_near are for
// positive numbers, functions *_block also for negative ones. Arguments outside of both and higher
// derivatives are scalar and compiled once (special/gamma.h).
#pragma once

#include <cstddef>

#include "backend/cpu/kernels/vec_pow.h"
#include "backend/cpu/kernels/vec_trig.h"
#include "backend/cpu/special/gamma.h"
#include "backend/cpu/special/gamma_tables.h"

namespace pullback {
namespace {
namespace m {

constexpr double kAsymptotic = 8.0;  // Stirling's series from here on

// The terms from `first` to `terms` of a series in powers of x, divided by x^first.
template <int terms, int first = 0, size_t n>
PULLBACK_INLINE double series(const long double (&c)[n], double x) {
  double sum = static_cast<double>(c[terms - 1]);
#pragma GCC unroll 32
  for (int k = terms - 2; k >= first; --k) sum = mad(sum, x, static_cast<double>(c[k]));
  return sum;
}

template <class F>
PULLBACK_INLINE bool is_gamma_near(F x) {
  return (x > F(0)) & (x < kInfinity<F>);
}

PULLBACK_INLINE float gammaln_near(float a) {
  const double x = static_cast<double>(a);
  // gamma(x) = gamma(2 + w) product or gamma(2 + w) / product, |w| <= 1/2
  double z = x, product = 1.0;
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    const bool far = z > 2.5;
    z = far ? z - 1.0 : z;
    product = far ? product * z : product;
  }
  const bool low = x < 1.5, least = x < 0.5, large = x >= kAsymptotic;
  const double w = least ? x : low ? x - 1.0 : z - 2.0;
  product = least ? mad(x, x, x) : low ? x : product;
  const double log = log_sum(large ? x : product, 0.0, 0.0);
  const double near = mad(w, series<18>(special::kLogGamma, w), low ? -log : log);
  const double r = 1.0 / x;
  constexpr double kHalfLog2Pi = 0.918938533204672741780;
  const double rest = mad(r, series<4>(special::kStirling, r * r), kHalfLog2Pi - 0.5);
  return static_cast<float>(large ? mad(x - 0.5, log - 1.0, rest) : near);
}

// log(gamma(2 + w)) for |w| <= 1/2; the first two coefficients have two parts.
PULLBACK_INLINE TwoPart gammaln_at_two(double w) {
  constexpr TwoPart c0 = {0x1.b0ee6072093cep-2, 0x1.6cb90701fbfabp-58},
                    c1 = {0x1.4a34cc4a60fa6p-2, 0x1.1873d8912200cp-56};
  const TwoPart slope = quick_sum(c1.high, w * series<23, 2>(special::kLogGamma, w));
  const TwoPart rise = two_product(w, slope.high);
  TwoPart sum = quick_sum(c0.high, rise.high);
  sum.low += rise.low + mad(w, slope.low + c1.low, c0.low);
  TwoPart out = two_product(w, sum.high);
  out.low += w * sum.low;
  return out;
}
// For 0 < x < kAsymptotic: gamma(x) is gamma(2 + w) times or, below 3/2, divided by the factor.
struct Shifted {
  double w;  // |w| <= 1/2
  TwoPart factor;
  bool is_divisor;
};
PULLBACK_INLINE Shifted shifted_to_two(double x) {
  double z = x;
  TwoPart product = {1.0, 0.0};
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    const bool far = z > 2.5;
    z = far ? z - 1.0 : z;
    const double factor = far ? z : 1.0;
    const double rest = product.low * factor;
    product = two_product(product.high, factor);
    product.low += rest;
  }
  const bool low = x < 1.5, least = x < 0.5;
  const TwoPart square = two_product(x, x);
  const TwoPart both = quick_sum(x, square.high);  // x (x + 1)
  product.high = least ? both.high : low ? x : product.high;
  product.low = least ? both.low + square.low : low ? 0.0 : product.low;
  return {least ? x : low ? x - 1.0 : z - 2.0, product, low};
}
// As for float, in two parts. For x > 2^900 the result is scaled by 2^-80.
PULLBACK_INLINE TwoPart gammaln_two(double x) {
  const Shifted at = shifted_to_two(x);
  const bool low = at.is_divisor, large = x >= kAsymptotic;
  TwoPart log = log_two(large ? x : at.factor.high);
  log.low += large ? 0.0 : at.factor.low / at.factor.high;
  const TwoPart at_two = gammaln_at_two(at.w);
  const TwoPart near = two_sum(at_two.high, low ? -log.high : log.high);
  const double near_low = near.low + (at_two.low + (low ? -log.low : log.low));
  // (x - 1/2) (log(x) - 1) + log(2 pi) / 2 - 1/2 + …
  const double r = 1.0 / x, scale = x > 0x1p900 ? 0x1p-80 : 1.0;
  const double half_less = (x - 0.5) * scale;
  const TwoPart factor = quick_sum(log.high, -1.0);
  const TwoPart first = two_product(half_less, factor.high);
  const TwoPart far = two_sum(first.high, 0x1.acfe390c97d69p-2 * scale);
  const double rest = mad(r, series<9>(special::kStirling, r * r), 0x1.3494bc9001442p-56);
  const double far_low = far.low + (first.low + half_less * (factor.low + log.low) + rest * scale);
  return {large ? far.high : near.high, large ? far_low : near_low};
}
PULLBACK_INLINE double gammaln_near(double x) {
  const TwoPart y = gammaln_two(x);
  return (y.high + y.low) * (x > 0x1p900 ? 0x1p80 : 1.0);
}

// For negative numbers, too: branch-free for -kReflected < x < infinity.
constexpr double kReflected = 0x1p50;
template <class F>
PULLBACK_INLINE bool is_gamma_block(F x) {
  return (x > F(-kReflected)) & (x < kInfinity<F>);
}
PULLBACK_INLINE bool is_pole(double x, const Waves& w) { return (x < 0.0) & (w.sine.high == 0.0); }

// log|gamma(x)| + log(gamma(-x)) = log(pi / (x sin(pi x)))
PULLBACK_INLINE double gammaln_block(double x) {
  const double a = magnitude(x);
  const TwoPart y = gammaln_two(a);
  const Waves waves = waves_of(x);
  const double sine = magnitude(waves.sine.high);
  const TwoPart product = two_product(a, sine);
  const double product_low =
      product.low + a * with_sign_of(waves.sine.low, waves.sine.low * waves.sine.high);
  TwoPart log = log_two(product.high);
  log.low += product_low / product.high;
  constexpr TwoPart log_pi = {0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57};
  const TwoPart first = two_sum(log_pi.high, -log.high), sum = two_sum(first.high, -y.high);
  const double rest = sum.low + (first.low + ((log_pi.low - log.low) - y.low));
  const bool reflected = x < -0x1p-60;
  const double value = (y.high + y.low) * (x > 0x1p900 ? 0x1p80 : 1.0);
  const double out = reflected ? sum.high + rest : value;
  return (x == 0.0) | is_pole(x, waves) ? kInfinity<double> : out;
}
PULLBACK_INLINE float gammaln_block(float x) {
  const auto reflected = static_cast<float>(gammaln_block(static_cast<double>(x)));
  return x > 0.0f ? gammaln_near(x) : reflected;
}
template <class F>
PULLBACK_INLINE F gammaln(F x) {
  return is_gamma_block(x) ? gammaln_block(x) : special::gammaln(x);
}

PULLBACK_INLINE float digamma_near(float a) {
  const double x = static_cast<double>(a);
  const double h = (x - static_cast<double>(special::kDigammaRoot[0])) -
                   static_cast<double>(special::kDigammaRoot[1]);
  // digamma(x) = digamma(u) - 1 / x - 1 / (x + 1) - …, where the sum is one quotient
  double u = x, above = 0.0, below = 1.0;
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) {
    const bool small = u < kAsymptotic;
    above = small ? mad(above, u, below) : above;
    below = small ? below * u : below;
    u = small ? u + 1.0 : u;
  }
  const double r = 1.0 / u, square = r * r;
  const double rest = mad(square, series<5>(special::kDigammaFar, square), 0.5 * r);
  const double far = (log_sum(u, 0.0, 0.0) - rest) - above / below;
  const bool close = magnitude(h) <= 0.25;
  return static_cast<float>(close ? h * series<14>(special::kDigamma, close ? h : 0.0) : far);
}

// digamma(z) for 1 <= z <= 2, where u = z - 3/2 and h, in two parts, is z less the root.
PULLBACK_INLINE TwoPart digamma_at_root(double u, TwoPart h) {
  constexpr TwoPart p0 = {static_cast<double>(special::kDigammaSlope[0]),
                          static_cast<double>(special::kDigammaSlopeLow[0])},
                    p1 = {static_cast<double>(special::kDigammaSlope[1]),
                          static_cast<double>(special::kDigammaSlopeLow[1])};
  const TwoPart slope = quick_sum(p1.high, u * series<22, 2>(special::kDigammaSlope, u));
  const TwoPart rise = two_product(u, slope.high);
  TwoPart p = quick_sum(p0.high, rise.high);
  p.low += rise.low + mad(u, slope.low + p1.low, p0.low);
  TwoPart y = two_product(h.high, p.high);
  y.low += mad(h.high, p.low, h.low * p.high);
  return y;
}
// As for float, but each reciprocal is added in two parts.
PULLBACK_INLINE TwoPart digamma_two(double x) {
  constexpr TwoPart root = {static_cast<double>(special::kDigammaRoot[0]),
                            static_cast<double>(special::kDigammaRoot[1])};
  const bool low = x < 1.0, large = x >= kAsymptotic;
  double z = x;
  TwoPart rise = {0.0, 0.0};
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    const bool far = z >= 2.0;
    z = far ? z - 1.0 : z;
    const double of = k == 0 && low ? x : z, r = 1.0 / of;
    const double rest = division_rest(1.0, of, r) * r;
    const double sign = k == 0 && low ? -1.0 : far ? 1.0 : 0.0;
    const TwoPart sum = two_sum(rise.high, sign * r);
    rise = {sum.high, rise.low + (sum.low + sign * rest)};
  }
  TwoPart h = two_sum(z, low ? 1.0 - root.high : -root.high);
  h.low -= root.low;
  const TwoPart at_root = digamma_at_root(low ? x - 0.5 : z - 1.5, h);
  const TwoPart near = two_sum(at_root.high, rise.high);
  const double near_low = near.low + (at_root.low + rise.low);
  const double r = 1.0 / x, square = r * r;
  const double rest = mad(square, series<9>(special::kDigammaFar, square), 0.5 * r);
  const TwoPart log = log_two(x), far = two_sum(log.high, -rest);
  // Below, 1 / x may overflow, and the other terms do not matter.
  const bool tiny = x < 0x1p-900;
  return {large  ? far.high
          : tiny ? -r
                 : near.high,
          large  ? far.low + log.low
          : tiny ? 0.0
                 : near_low};
}
PULLBACK_INLINE double digamma_near(double x) {
  const TwoPart y = digamma_two(x);
  return y.high + y.low;
}

// digamma(x) = digamma(-x) - 1 / x - pi cot(pi x)
PULLBACK_INLINE double digamma_block(double x) {
  const TwoPart y = digamma_two(magnitude(x));
  const Waves waves = waves_of(x);
  const TwoPart slope = quotient(product({-kPi, -kPiLow}, waves.cosine), waves.sine);
  const TwoPart sum = plus(plus(y, reciprocal(magnitude(x))), slope);
  const double out = x < -0x1p-60 ? sum.high + sum.low : x > 0.0 ? y.high + y.low : -1.0 / x;
  return is_pole(x, waves) ? kNaN<double> : out;
}
PULLBACK_INLINE float digamma_block(float x) {
  const auto reflected = static_cast<float>(digamma_block(static_cast<double>(x)));
  return x > 0.0f ? digamma_near(x) : reflected;
}
template <class F>
PULLBACK_INLINE F digamma(F x) {
  return is_gamma_block(x) ? digamma_block(x) : special::digamma(x);
}

// 1 / x^2 for |x| < kTinyGamma, where terms of other orders do not matter.
constexpr double kTinyGamma = 0x1p-200;
PULLBACK_INLINE double inverse_square(double x) {
  const double scale = 0x1p300;
  const TwoPart y = quotient({1.0, 0.0}, two_product(x * scale, x * scale));
  const double size = (y.high + y.low) * scale * scale;
  return magnitude(x) < 0x1p-513 ? kInfinity<double> : size;
}

// polygamma(1, x): x polygamma(1, x) is a polynomial in 1 / x up to kAsymptotic; below 1 it is that
// at x + 1, plus 1 / x^2.
PULLBACK_INLINE float trigamma_near(float a) {
  const double x = static_cast<double>(a);
  const bool low = x < 1.0;
  const double t = 1.0 / (low ? x + 1.0 : x), w = t - 0.5625;
  const double near = series<20>(special::kTrigamma, w);
  const double far = mad(t, mad(t, series<5>(special::kTrigammaFar, t * t), 0.5), 1.0);
  const double y = t * (x < kAsymptotic ? near : far);
  return static_cast<float>(low ? mad(1.0 / x, 1.0 / x, y) : y);
}
// As for float, in two parts.
PULLBACK_INLINE double trigamma_near(double x) {
  const bool low = x < 1.0;
  const TwoPart u = two_sum(x, low ? 1.0 : 0.0);
  const double t = 1.0 / u.high;
  // The rest does not matter where the product of x and t would lose it.
  const double u_kept = x > 0x1p900 ? 1.0 : u.high, t_kept = x > 0x1p900 ? 1.0 : t;
  const double t_low = (division_rest(1.0, u_kept, t_kept) - t * u.low) * t;
  constexpr TwoPart c0 = {static_cast<double>(special::kTrigamma[0]),
                          static_cast<double>(special::kTrigammaLow[0])},
                    c1 = {static_cast<double>(special::kTrigamma[1]),
                          static_cast<double>(special::kTrigammaLow[1])};
  const double w = t - 0.5625;
  const TwoPart slope = quick_sum(c1.high, w * series<25, 2>(special::kTrigamma, w));
  const TwoPart rise = two_product(w, slope.high);
  const TwoPart near = quick_sum(c0.high, rise.high);
  const double near_low = near.low + (rise.low + mad(w, slope.low + c1.low, c0.low));
  const TwoPart far = quick_sum(1.0, t * mad(t, series<12>(special::kTrigammaFar, t * t), 0.5));
  const bool large = x >= kAsymptotic;
  const double factor = large ? far.high : near.high;
  // The difference quotient replaces the derivative by t, since t_low is small.
  const double factor_low = large ? far.low : near_low + t_low * slope.high;
  TwoPart y = two_product(t, factor);
  y.low += mad(t, factor_low, t_low * factor);
  const TwoPart pole = quotient({1.0, 0.0}, two_product(x, x)), sum = quick_sum(pole.high, y.high);
  const double both = sum.high + (sum.low + (pole.low + y.low));
  return x < kTinyGamma ? inverse_square(x) : low ? both : y.high + y.low;
}
template <class F>
PULLBACK_INLINE F polygamma(F n, F x) {
  return (n == F(1)) & is_gamma_near(x) ? trigamma_near(x) : special::polygamma(n, x);
}

}  // namespace m
}  // namespace
}  // namespace pullback
