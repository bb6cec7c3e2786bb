// log(gamma), digamma and its derivative, of positive numbers: members of the gamma family that
// large arrays need. The others are scalar and compiled once (special/gamma.h). These follow
// special/gamma_parts.h without branches, for float in double, with the terms that matter.
#pragma once

#include "backend/cpu/kernels/vec_pow.h"
#include "backend/cpu/kernels/vec_two.h"
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
PULLBACK_INLINE float gammaln(float x) {
  return is_gamma_near(x) ? gammaln_near(x) : special::gammaln(x);
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
// As for float; products and logarithms have two parts.
PULLBACK_INLINE double gammaln_near(double x) {
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
  const bool low = x < 1.5, least = x < 0.5, large = x >= kAsymptotic;
  const double w = least ? x : low ? x - 1.0 : z - 2.0;
  const TwoPart square = two_product(x, x);
  const TwoPart both = quick_sum(x, square.high);  // x (x + 1)
  product.high = least ? both.high : low ? x : product.high;
  product.low = least ? both.low + square.low : low ? 0.0 : product.low;
  TwoPart log = log_two(large ? x : product.high);
  log.low += large ? 0.0 : product.low / product.high;
  const TwoPart at_two = gammaln_at_two(w);
  const TwoPart near = two_sum(at_two.high, low ? -log.high : log.high);
  const double near_low = near.low + (at_two.low + (low ? -log.low : log.low));
  // (x - 1/2) (log(x) - 1) + log(2 pi) / 2 - 1/2 + …, scaled for large x
  const double r = 1.0 / x, scale = x > 0x1p900 ? 0x1p-80 : 1.0;
  const double half_less = (x - 0.5) * scale;
  const TwoPart factor = quick_sum(log.high, -1.0);
  const TwoPart first = two_product(half_less, factor.high);
  const double rest = mad(r, series<9>(special::kStirling, r * r), 0x1.acfe390c97d69p-2);
  const double far_low = first.low + half_less * (factor.low + log.low) + rest * scale;
  const double far = (first.high + far_low) * (x > 0x1p900 ? 0x1p80 : 1.0);
  return large ? far : near.high + near_low;
}
PULLBACK_INLINE double gammaln(double x) {
  return is_gamma_near(x) ? gammaln_near(x) : special::gammaln(x);
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
PULLBACK_INLINE float digamma(float x) {
  return is_gamma_near(x) ? digamma_near(x) : special::digamma(x);
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
PULLBACK_INLINE double digamma_near(double x) {
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
  // Below, 1 / x may overflow, and the other terms do not matter.
  const double y = near.high + (near.low + (at_root.low + rise.low));
  const double r = 1.0 / x, square = r * r;
  const double rest = mad(square, series<9>(special::kDigammaFar, square), 0.5 * r);
  const TwoPart log = log_two(x), far = two_sum(log.high, -rest);
  return large ? far.high + (far.low + log.low) : x < 0x1p-900 ? -r : y;
}
PULLBACK_INLINE double digamma(double x) {
  return is_gamma_near(x) ? digamma_near(x) : special::digamma(x);
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
  // 1 / x^2; tiny x are scaled, and still less is infinite.
  const bool tiny = x < 0x1p-200;
  const double scale = tiny ? 0x1p300 : 1.0;
  const TwoPart pole = divided({1.0, 0.0}, two_product(x * scale, x * scale));
  const TwoPart sum = quick_sum(pole.high, tiny ? 0.0 : y.high);
  const double rest = sum.low + (pole.low + (tiny ? 0.0 : y.low));
  const double both = (sum.high + rest) * scale * scale;
  return x < 0x1p-513 ? kInfinity<double> : low ? both : y.high + y.low;
}
template <class F>
PULLBACK_INLINE F polygamma(F n, F x) {
  return (n == F(1)) & is_gamma_near(x) ? trigamma_near(x) : special::polygamma(n, x);
}

}  // namespace m
}  // namespace
}  // namespace pullback
