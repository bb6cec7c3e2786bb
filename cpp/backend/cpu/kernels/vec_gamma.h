// log(gamma) and digamma of positive float32: the members of the gamma family that large arrays
// need. The others are scalar and compiled once (special/gamma.h). These follow
// special/gamma_parts.h in double, without branches and with the terms that matter for float.
#pragma once

#include "backend/cpu/kernels/vec_exp.h"
#include "backend/cpu/special/gamma.h"
#include "backend/cpu/special/gamma_tables.h"

namespace pullback {
namespace {
namespace m {

constexpr double kAsymptotic = 8.0;  // Stirling's series from here on

// The first terms of a series in powers of x.
template <int terms, size_t n>
PULLBACK_INLINE double series(const long double (&c)[n], double x) {
  double sum = static_cast<double>(c[terms - 1]);
#pragma GCC unroll 32
  for (int k = terms - 2; k >= 0; --k) sum = mad(sum, x, static_cast<double>(c[k]));
  return sum;
}

PULLBACK_INLINE bool is_gamma_near(float x) { return (x > 0.0f) & (x < kInfinity<float>); }

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
PULLBACK_INLINE double gammaln(double x) { return special::gammaln(x); }

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
PULLBACK_INLINE double digamma(double x) { return special::digamma(x); }

}  // namespace m
}  // namespace
}  // namespace pullback
