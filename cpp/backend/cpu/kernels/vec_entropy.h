// Logarithms of ratios, entropies, and the derivative of sinc, branch-free.
//
// A logarithm of a / b is computed from s = (a - b) / (a + b), whose parts are exact, so that
// nothing cancels where a and b are close: log(a / b) = log((1 + s) / (1 - s)). In double the
// logarithm has two parts, since it is multiplied by a number or a difference is subtracted from
// it. Start at log_quotient(). kl_div() has the only formula that cancels otherwise.
#pragma once

#include "backend/cpu/kernels/vec_pow.h"
#include "backend/cpu/kernels/vec_two.h"

namespace pullback {
namespace {
namespace m {

constexpr TwoPart kPerE = {0x1.78b56362cef38p-2, -0x1.ca8a4270fadf5p-57};

// A positive number as 2^n m with sqrt(1/2) <= m < sqrt(2).
struct Mantissa {
  double n, m;
};
PULLBACK_INLINE Mantissa mantissa_of(double x) {
  const bool subnormal = x < 0x1p-1022;
  const LogParts parts = log_parts(subnormal ? x * 0x1p54 : x);
  return {parts.n - (subnormal ? 54.0 : 0.0), 1.0 + parts.f};
}

// log(a / b) + n ln2 in two parts, for numbers whose ratio is between 1/2 and 3.
PULLBACK_INLINE LogOfQuotient log_quotient(double a, TwoPart b, double n) {
  constexpr double root = 0x1.6a09e667f3bcdp+0;
  const bool above = a > root * b.high, below = b.high > root * a;
  a = above ? 0.5 * a : below ? 2.0 * a : a;
  n = above ? n + 1.0 : below ? n - 1.0 : n;
  TwoPart bottom = two_sum(a, b.high);
  bottom.low += b.low;
  return log_of_quotient((a - b.high) - b.low, bottom, n);
}
PULLBACK_INLINE TwoPart log_ratio_two(double a, double b) {
  const Mantissa x = mantissa_of(a), y = mantissa_of(b);
  return log_quotient(x.m, {y.m, 0.0}, x.n - y.n).sum;
}

// log(a / b), given as y where both are positive and finite.
template <class F>
PULLBACK_INLINE F log_ratio_checked(F a, F b, F y) {
  const F x = magnitude(a), z = magnitude(b), q = x / z;
  const bool regular = (x > F(0)) & (z > F(0)) & (x < kInfinity<F>)&(z < kInfinity<F>);
  y = regular ? y : q == F(0) ? -kInfinity<F> : q;  // zero, infinity or NaN
  return (a >= F(0)) & (b >= F(0)) ? y : kNaN<F>;
}

PULLBACK_INLINE double log_ratio(double a, double b) {
  const TwoPart log = log_ratio_two(a, b);
  return log_ratio_checked(a, b, log.high + log.low);
}
PULLBACK_INLINE float log_ratio(float a, float b) {
  const double q = static_cast<double>(a) / static_cast<double>(b);
  return log_ratio_checked(a, b, static_cast<float>(rough_log(q)));
}

// log(p / (1 - p))
template <class F>
PULLBACK_INLINE F logit_checked(F p, F y) {
  y = p == F(0) ? -kInfinity<F> : y;
  y = p == F(1) ? kInfinity<F> : y;
  return (p >= F(0)) & (p <= F(1)) ? y : kNaN<F>;
}
PULLBACK_INLINE double logit(double p) {
  const double u = 1.0 - p, u_low = (1.0 - u) - p;
  const Mantissa x = mantissa_of(p), y = mantissa_of(u);
  const TwoPart log = log_quotient(x.m, {y.m, u_low * (y.m / u)}, x.n - y.n).sum;
  return logit_checked(p, log.high + log.low);
}
PULLBACK_INLINE float logit(float p) {
  const double x = p;
  return logit_checked(p, static_cast<float>(rough_log(x / (1.0 - x))));
}

// 1 / (p (1 - p))
PULLBACK_INLINE double logit_slope(double p) {
  const bool small = p < 0x1p-900;
  const double x = small ? 1.0 : p, u = 1.0 - x, u_low = (1.0 - u) - x;
  TwoPart product = two_product(x, u);
  product.low += x * u_low;
  const TwoPart y = divided({1.0, 0.0}, product);
  const double slope = small ? 1.0 / magnitude(p) : u == 0.0 ? kInfinity<double> : y.high + y.low;
  return (p >= 0.0) & (p <= 1.0) ? slope : kNaN<double>;
}
PULLBACK_INLINE float logit_slope(float p) {
  const double x = magnitude(p);
  return (p >= 0.0f) & (p <= 1.0f) ? static_cast<float>(1.0 / (x * (1.0 - x))) : kNaN<float>;
}

// A power of two that moves the size of a positive number away from the ends of the range, where
// products have no exact rounding error, and its inverse.
struct Scale {
  double by, back;
};
PULLBACK_INLINE Scale scale_of(double x) {
  const bool large = x > 0x1p900, small = x < 0x1p-900;
  return {large ? 0x1p-80 : small ? 0x1p80 : 1.0, large ? 0x1p80 : small ? 0x1p-80 : 1.0};
}
// x log for x > 0.
PULLBACK_INLINE double times_log(double x, TwoPart log) {
  const Scale scale = scale_of(x);
  const TwoPart y = two_product(x * scale.by, log.high);
  return (y.high + (y.low + x * scale.by * log.low)) * scale.back;
}

// -x log(x)
template <class F>
PULLBACK_INLINE F entr_checked(F x, F y) {
  y = x > F(0) ? y : x == F(0) ? F(0) : -kInfinity<F>;
  y = x < kInfinity<F> ? y : -kInfinity<F>;
  return x == x ? y : x;
}
PULLBACK_INLINE double entr(double x) { return entr_checked(x, -times_log(x, log_two(x))); }
PULLBACK_INLINE float entr(float x) {
  return entr_checked(x, static_cast<float>(-static_cast<double>(x) * rough_log(x)));
}

// -1 - log(x) = -log(x / (1 / e))
template <class F>
PULLBACK_INLINE F entr_slope_checked(F x, F y) {
  y = x == F(0) ? kInfinity<F> : y;
  y = x == kInfinity<F> ? -kInfinity<F> : y;
  return x >= F(0) ? y : kNaN<F>;
}
PULLBACK_INLINE double entr_slope(double x) {
  const Mantissa a = mantissa_of(x);
  const TwoPart log = log_quotient(a.m, {2.0 * kPerE.high, 2.0 * kPerE.low}, a.n + 1.0).sum;
  return entr_slope_checked(x, -(log.high + log.low));
}
PULLBACK_INLINE float entr_slope(float x) {
  constexpr double e = 0x1.5bf0a8b145769p+1;
  return entr_slope_checked(x, static_cast<float>(-rough_log(x * e)));
}

// x log(x / y)
template <class F>
PULLBACK_INLINE F rel_entr_checked(F x, F y, F found) {
  const bool positive = (x > F(0)) & (y > F(0));
  const bool infinite = (x == kInfinity<F>) | (y == kInfinity<F>);
  found = infinite ? (x < kInfinity<F> ? -kInfinity<F> : y < x ? x : kNaN<F>) : found;
  found = positive ? found : (x == F(0)) & (y >= F(0)) ? F(0) : kInfinity<F>;
  return (x == x) & (y == y) ? found : kNaN<F>;
}
PULLBACK_INLINE double rel_entr(double x, double y) {
  return rel_entr_checked(x, y, times_log(x, log_ratio_two(x, y)));
}
PULLBACK_INLINE float rel_entr(float x, float y) {
  const double a = x, b = y;
  return rel_entr_checked(x, y, static_cast<float>(a * rough_log(a / b)));
}

// 1 + log(x / y) = log(x / (y / e))
PULLBACK_INLINE double rel_entr_slope(double x, double y) {
  const Mantissa a = mantissa_of(x), b = mantissa_of(y);
  TwoPart low = two_product(b.m, 2.0 * kPerE.high);
  low.low += b.m * (2.0 * kPerE.low);
  const TwoPart log = log_quotient(a.m, low, (a.n - b.n) + 1.0).sum;
  return log_ratio_checked(x, y, log.high + log.low);
}
PULLBACK_INLINE float rel_entr_slope(float x, float y) {
  // The quotient's rounding error matters next to the root.
  constexpr TwoPart e = {0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53};
  const double a = x, b = y, top = a * e.high, q = top / b;
  const double rest = product_rest(a, e.high, top) + a * e.low + division_rest(top, b, q);
  return log_ratio_checked(x, y, static_cast<float>(rough_log(q) + rest / top));
}

// x log(x / y) - x + y. With s = (x - y) / (x + y) and log(x / y) = 2 s + r it is s (x - y) + x r.
template <class F>
PULLBACK_INLINE F kl_div_checked(F x, F y, F found) {
  const bool finite = (x < kInfinity<F>)&(y < kInfinity<F>);
  found = finite ? found : kNaN<F>;
  found = (x > F(0)) & (y > F(0)) ? found : (x == F(0)) & (y >= F(0)) ? y : kInfinity<F>;
  return (x == x) & (y == y) ? found : kNaN<F>;
}
PULLBACK_INLINE double kl_div(double x, double y) {
  const Scale scale = scale_of(x > y ? x : y);
  const double a = x * scale.by, b = y * scale.by;
  const Mantissa m = mantissa_of(x), n = mantissa_of(y);  // b may be subnormal
  const LogOfQuotient log = log_quotient(m.m, {n.m, 0.0}, m.n - n.n);
  const TwoPart difference = two_sum(a, -b);
  const bool close = magnitude(difference.high) < 0.171 * (a + b);
  const double of = close ? log.rest.high : log.sum.high;
  const TwoPart second = two_product(a, of);
  const TwoPart near = two_product(log.twice_s.high, 0.5 * difference.high);
  const double first = close ? near.high : -difference.high;
  const double first_low =
      close ? mad(0.5 * difference.high, log.twice_s.low, near.low) : -difference.low;
  const TwoPart sum = two_sum(first, second.high);
  const double low = (second.low + a * (close ? log.rest.low : log.sum.low)) + first_low;
  return kl_div_checked(x, y, (sum.high + (sum.low + low)) * scale.back);
}
PULLBACK_INLINE float kl_div(float x, float y) {
  const double a = x, b = y, difference = a - b;
  const double s = difference / (a + b), z = s * s;
  const bool close = magnitude(s) < 0.171;
  const double rest =
      s * z * polynomial(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15);
  const double of = close ? rest : rough_log(a / b);
  const double found = mad(a, of, close ? s * difference : -difference);
  return kl_div_checked(x, y, static_cast<float>(found));
}

}  // namespace m
}  // namespace
}  // namespace pullback
