// The error function and related functions, including the normal distribution. Start at Tail: all
// except erf follow from one function Q of t >= 0,
//
//   erfc(t) = exp(-t^2) / (sqrt(pi) (t + Q(t))),  Q(t) between 1 / sqrt(pi) and 1 / (2 t),
//
// with ndtr(-a) = erfc(a / sqrt(2)) / 2. For double, (1.5 + t) Q(t) is a polynomial in
// (t - 3) / (t + 3), a variable of M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation
// of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Math. Comp. 36, 1981; for float Q is a
// quotient of polynomials. tools/error_tables computes both. The inverses are in
// vec_error_inverse.h.
#pragma once

#include "backend/cpu/kernels/error_tables.h"
#include "backend/cpu/kernels/vec_two.h"
#include "backend/cpu/special/error_functions.h"

namespace pullback {
namespace {
namespace m {

// Evaluates the polynomial of a table's coefficients, from `first` on. Even and odd powers are
// separate chains, which run in parallel.
template <int first = 0, int n>
PULLBACK_INLINE double polynomial_of(const double (&c)[n], double x) {
  const double square = x * x;
  double sum = c[n - 1], other = c[n - 2];
#pragma GCC unroll 32
  for (int k = n - 3; k >= first; k -= 2) sum = mad(sum, square, c[k]);
#pragma GCC unroll 32
  for (int k = n - 4; k >= first; k -= 2) other = mad(other, square, c[k]);
  return (n - first) % 2 ? mad(other, x, sum) : mad(sum, x, other);
}

// erf(a) = a + a (c + z (k + z P(z))) with z = a^2 below 0.9, else 1 - exp(-z) (g + t G(t)) with t
// = (a - 2) / (a + 2). The rounding errors of the larger sums are added last.
PULLBACK_INLINE double erf(double x) {
  const double a = magnitude(x) > 6.0 ? 6.0 : magnitude(x);
  const double z = a * a;
  constexpr double c = 0x1.06eba8214db68p-3, c_low = 0x1.1ae3a914fed80p-56;  // 2 / sqrt(pi) - 1
  constexpr double k = -0x1.812746b0379e4p-2;
  const double zp =
      z * polynomial(z, 0x1.ce2f21a0428cfp-4, -0x1.b82ce312759c4p-6, 0x1.565bcd0ab56c4p-8,
                     -0x1.c02db329d6727p-11, 0x1.f9a30872cb471p-14, -0x1.f4cf8163b10bep-17,
                     0x1.b9b926b4f7b3dp-20, -0x1.5d90071412447p-23, 0x1.e3045a1df0884p-27,
                     -0x1.d3affd6b7530ap-31);
  const double slope = k + zp;
  const double shift = mad(z, slope, c);
  const double shift_low = mad(z, zp - (slope - k), c_low);
  const double near = a + mad(a, shift, a * shift_low);
  const double t = (a - 2.0) / (a + 2.0);
  constexpr double g = 0x1.058671b52c776p-2;
  const double tg =
      t * polynomial(t, -0x1.b57034efd3f7dp-2, 0x1.eeea7dc8a7619p-3, -0x1.437f0b68bfb43p-4,
                     0x1.e94715a19e2f4p-9, 0x1.ca95ed6cd7f27p-8, -0x1.bc25abd545d8ap-11,
                     -0x1.016b822bc4a88p-10, 0x1.6d5b53c295f1bp-15, 0x1.6dc1c1787f4f7p-13,
                     0x1.d0c72cddfe296p-16, -0x1.cebe0071077f8p-16, -0x1.02d15a2ac2ac7p-16,
                     -0x1.388272592731bp-19);
  const double factor = g + tg;
  const ExpParts p = exp_parts(-z, -product_rest(a, a, z));
  const TwoPart e = one_plus(p);
  const double scale = power_of_two(p.shifted);
  const double rest = e.high * factor;
  const double rest_low =
      product_rest(e.high, factor, rest) + mad(e.high, tg - (factor - g), e.low * factor);
  const double far = 1.0 - scale * rest;
  const double far_low = ((1.0 - far) - scale * rest) - scale * rest_low;
  return with_sign_of(a < 0.9 ? near : far + far_low, x);
}
PULLBACK_INLINE float erf(float x) {
  const double a = clamped(x, -3.95f, 3.95f);
  const double z = a * a;
  const double top = polynomial(z, 0x1.20dd750d58d85p+0, 0x1.7b3a92016ad9fp-3, 0x1.bc9e152b004c2p-5,
                                0x1.f7c25280a7862p-9, 0x1.8c47f2b2df9b1p-12, 0x1.376355953491p-18,
                                -0x1.bd7a9fc789ec2p-27);
  const double bottom =
      polynomial(z, 1.0, 0x1.fd5ff276796d1p-2, 0x1.d294927413cf7p-4, 0x1.fa0f044c251c5p-7,
                 0x1.55d8fb4fac04dp-10, 0x1.06ef8f743e0abp-14);
  return static_cast<float>(a * top / bottom);
}

constexpr TwoPart kRootPi = {0x1.c5bf891b4ef6bp+0, -0x1.618f13eb7ca89p-54};
constexpr TwoPart kPerRootPi = {0x1.20dd750429b6dp-1, 0x1.1ae3a914fed80p-57};
constexpr TwoPart kTwicePerRootPi = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
constexpr TwoPart kHalfPerRootPi = {0x1.20dd750429b6dp-2, 0x1.1ae3a914fed80p-58};
constexpr TwoPart kPerRootTwoPi = {0x1.9884533d43651p-2, -0x1.cbc0d30ebfd15p-56};
constexpr TwoPart kRootTwo = {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54};
constexpr TwoPart kRootHalf = {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};

// --- double, in two parts

// 2^n (high + low)
struct ScaledTwo {
  TwoPart y;
  uint64_t shifted;
};
// factor exp(x)
PULLBACK_INLINE ScaledTwo exp_times(TwoPart factor, TwoPart x) {
  const ExpParts p = exp_parts(x.high, x.low);
  return {product(factor, one_plus(p)), p.shifted};
}
PULLBACK_INLINE double rounded(const ScaledTwo& a) { return scaled(a.y.high + a.y.low, a.shifted); }

// -a^2 and -a^2 / 2 in two parts, since an ulp of a^2 changes the result by a^2 ulp.
PULLBACK_INLINE TwoPart minus_square(double a) {
  const double z = a * a;
  return {-z, -product_rest(a, a, z)};
}
PULLBACK_INLINE TwoPart minus_half_square(double a) {
  const double half = 0.5 * a, z = half * a;
  return {-z, -product_rest(half, a, z)};
}

PULLBACK_INLINE double size_up_to(double most, double x) {
  const double size = magnitude(x);
  return size > most ? most : size;  // a NaN stays
}

// t + Q(t) = bottom / top and Q(t) = rest / top. The derivative of (1.5 + t) Q(t) is small at 0,
// where the variable of its polynomial is least accurate.
struct Tail {
  TwoPart rest, top, bottom;
};
PULLBACK_INLINE Tail tail(TwoPart t) {
  const double u = (t.high - 3.0) / (t.high + 3.0);
  const double curve = u * polynomial_of<2>(kTailRest, u);
  const TwoPart slope = quick_sum(kTailRest[1], curve), more = product(u, slope);
  TwoPart rest = quick_sum(kTailRest[0], more.high);
  rest.low += more.low + (u * kTailRestLow[1] + kTailRestLow[0]);
  TwoPart top = two_sum(1.5, t.high);
  top.low += t.low;
  const TwoPart most = product(t, top);
  TwoPart bottom = two_sum(most.high, rest.high);
  bottom.low += most.low + rest.low;
  return {rest, top, bottom};
}

// factor exp(x) / (t + Q(t)), where x is -t^2.
PULLBACK_INLINE ScaledTwo upper_tail(TwoPart factor, TwoPart t, TwoPart x) {
  const Tail at = tail(t);
  const ScaledTwo top = exp_times(factor, x);
  return {quotient(product(top.y, at.top), at.bottom), top.shifted};
}
// `whole` minus a tail of at most half of it; terms are added in order of their size.
PULLBACK_INLINE double complement(double whole, const ScaledTwo& a) {
  const double one = a.y.high + a.y.low, part = scaled(one, a.shifted);
  const double rest = scaled(a.y.low - (one - a.y.high), a.shifted);
  const double y = whole - part;
  return y + (((whole - y) - part) - rest);
}

PULLBACK_INLINE double erfc(double x) {
  const double t = size_up_to(28.0, x);
  const ScaledTwo upper = upper_tail(kPerRootPi, {t, 0.0}, minus_square(t));
  return x < 0.0 ? complement(2.0, upper) : rounded(upper);
}
// 2 / sqrt(pi) exp(-x^2)
PULLBACK_INLINE double erf_slope(double x) {
  return rounded(exp_times(kTwicePerRootPi, minus_square(size_up_to(28.0, x))));
}

// exp(x^2) erfc(x)
PULLBACK_INLINE double erfcx(double x) {
  const double size = magnitude(x);
  const Tail at = tail({size > 0x1p450 ? 0x1p450 : size, 0.0});
  const TwoPart upper = quotient(product(kPerRootPi, at.top), at.bottom);
  const double t = size_up_to(28.0, x), z = t * t;
  const ScaledTwo twice = exp_times({2.0, 0.0}, {z, product_rest(t, t, z)});
  const double high = scaled(twice.y.high, twice.shifted), low = scaled(twice.y.low, twice.shifted);
  const TwoPart sum = two_sum(high, -upper.high);
  const double rest = sum.low + (low - upper.low);
  const double lower = sum.high + (rest == rest ? rest : 0.0);
  const double far = kPerRootPi.high / size;
  return x < 0.0 ? lower : (size > 0x1p440 ? far : upper.high + upper.low);
}

// The derivative of erfcx. For x = t >= 0 it is -2 / sqrt(pi) Q(t) / (t + Q(t)).
PULLBACK_INLINE double erfcx_slope(double x) {
  const double size = magnitude(x);
  const Tail at = tail({size > 0x1p450 ? 0x1p450 : size, 0.0});
  const TwoPart upper = quotient(product(kTwicePerRootPi, at.rest), at.bottom);
  const double t = size_up_to(28.0, x), z = t * t;
  const ScaledTwo growth = exp_times({4.0 * t, 0.0}, {z, product_rest(t, t, z)});
  const double high = scaled(growth.y.high, growth.shifted);
  const double low = scaled(growth.y.low, growth.shifted);
  const TwoPart sum = two_sum(high, upper.high);
  const double rest = sum.low + (low + upper.low);
  const double lower = sum.high + (rest == rest ? rest : 0.0);
  const double far = kPerRootPi.high / size / size;
  return -(x < 0.0 ? lower : (size > 0x1p440 ? far : upper.high + upper.low));
}

PULLBACK_INLINE double ndtr(double x) {
  const double a = size_up_to(40.0, x);
  const ScaledTwo lower = upper_tail(kHalfPerRootPi, product(a, kRootHalf), minus_half_square(a));
  return x < 0.0 ? rounded(lower) : complement(1.0, lower);
}
// exp(-x^2 / 2) / sqrt(2 pi)
PULLBACK_INLINE double ndtr_slope(double x) {
  return rounded(exp_times(kPerRootTwoPi, minus_half_square(size_up_to(40.0, x))));
}

// log(ndtr(x)); for x < 0 the exponent is added to the logarithm of the other factor.
PULLBACK_INLINE double log_ndtr(double x) {
  const bool below = x < 0.0;
  const TwoPart exponent = minus_half_square(below ? x : size_up_to(40.0, x));
  const double a = size_up_to(below ? 0x1p450 : 40.0, x);
  const Tail at = tail(product(a, kRootHalf));
  const bool far = a > 40.0;
  const ScaledTwo e =
      exp_times(kHalfPerRootPi, {far ? 0.0 : exponent.high, far ? 0.0 : exponent.low});
  const TwoPart factor = {below ? kHalfPerRootPi.high : e.y.high,
                          below ? kHalfPerRootPi.low : e.y.low};
  const TwoPart y = quotient(product(factor, at.top), at.bottom);
  const double part = scaled(y.high, e.shifted), u = 1.0 - part;
  const double lost = ((1.0 - u) - part) - scaled(y.low, e.shifted);
  const double of = below ? y.high : u;
  const TwoPart log = log_two(of, (below ? y.low : lost) / of, 0.0);
  const TwoPart sum = two_sum(below ? exponent.high : 0.0, log.high);
  const double low = (below ? exponent.low : 0.0) + (sum.low + log.low);
  const double found = sum.high + (low == low ? low : 0.0);  // NaN at infinity
  return x == x ? found : x;
}

// `base` plus a quotient: sqrt(2) Q(t) for x < 0, else the density divided by ndtr(x).
PULLBACK_INLINE double log_ndtr_ratio(double x, double base) {
  const bool below = x < 0.0;
  const double a = size_up_to(below ? 0x1.fffffffffffffp1023 : 40.0, x);
  const Tail at = tail(product(a, kRootHalf));
  const ScaledTwo density = exp_times(kPerRootTwoPi, minus_half_square(size_up_to(40.0, x)));
  const TwoPart lower = product(product(density.y, kRootHalf), at.top);  // of bottom
  const double part = scaled(lower.high, density.shifted);
  TwoPart rest = two_sum(at.bottom.high, -part);
  rest.low += at.bottom.low - scaled(lower.low, density.shifted);
  const TwoPart first = {below ? kRootTwo.high : density.y.high,
                         below ? kRootTwo.low : density.y.low};
  const TwoPart second = {below ? at.rest.high : at.bottom.high,
                          below ? at.rest.low : at.bottom.low};
  const TwoPart bottom = {below ? at.top.high : rest.high, below ? at.top.low : rest.low};
  const TwoPart y = quotient(product(first, second), bottom);
  const uint64_t shifted = below ? 0 : density.shifted;
  const TwoPart sum = two_sum(base, scaled(y.high, shifted));
  const double low = sum.low + scaled(y.low, shifted);
  const double more = low == low ? low : 0.0;  // NaN beyond the range of its terms
  return magnitude(x) == kInfinity<double> ? base : sum.high + more;
}
// The derivative of log_ndtr, and x plus it: the second derivative is minus the product of both.
PULLBACK_INLINE double log_ndtr_slope(double x) { return log_ndtr_ratio(x, x > 0.0 ? 0.0 : -x); }
PULLBACK_INLINE double log_ndtr_rest(double x) { return log_ndtr_ratio(x, x < 0.0 ? 0.0 : x); }

// --- float, in double

struct RoughTail {
  double rest, top, bottom;
};
PULLBACK_INLINE RoughTail rough_tail(double t) {
  const double rest = polynomial_of(kTailTop, t), top = polynomial_of(kTailBottom, t);
  return {rest, top, mad(t, top, rest)};
}
PULLBACK_INLINE double rough_value(const RoughExp& e) { return mad(e.scale, e.p, e.scale); }

PULLBACK_INLINE float erfc(float x) {
  const double t = size_up_to(11.0, x);
  const RoughTail at = rough_tail(t);
  const double upper = kPerRootPi.high * rough_value(rough_exp(-t * t)) * at.top / at.bottom;
  return static_cast<float>(x < 0.0f ? 2.0 - upper : upper);
}
PULLBACK_INLINE float erf_slope(float x) {
  const double a = size_up_to(11.0, x);
  return static_cast<float>(kTwicePerRootPi.high * rough_value(rough_exp(-a * a)));
}

PULLBACK_INLINE float erfcx(float x) {
  const double t = size_up_to(0x1p152, x);
  const RoughTail at = rough_tail(t);
  const double upper = kPerRootPi.high * at.top / at.bottom;
  const double growth = rough_value(rough_exp(size_up_to(100.0, t * t)));
  return static_cast<float>(x < 0.0f ? 2.0 * growth - upper : upper);
}

PULLBACK_INLINE float erfcx_slope(float x) {
  const double t = size_up_to(0x1p152, x);
  const RoughTail at = rough_tail(t);
  const double upper = kTwicePerRootPi.high * at.rest / at.bottom;
  const double growth = 4.0 * t * rough_value(rough_exp(size_up_to(100.0, t * t)));
  return static_cast<float>(-(x < 0.0f ? growth + upper : upper));
}
// The derivative of erfcx of an order.
template <class F>
PULLBACK_INLINE F erfcx_derivative(F x, F order) {
  return order == F(1) ? erfcx_slope(x) : static_cast<F>(special::erfcx(x, order));
}

PULLBACK_INLINE float ndtr(float x) {
  const double a = size_up_to(15.0, x);
  const RoughTail at = rough_tail(kRootHalf.high * a);
  const double e = rough_value(rough_exp(-0.5 * a * a));
  const double lower = kHalfPerRootPi.high * e * at.top / at.bottom;
  return static_cast<float>(x < 0.0f ? lower : 1.0 - lower);
}
PULLBACK_INLINE float ndtr_slope(float x) {
  const double a = size_up_to(15.0, x);
  return static_cast<float>(kPerRootTwoPi.high * rough_value(rough_exp(-0.5 * a * a)));
}

// log(1 - y) for 0 <= y <= 1/2
PULLBACK_INLINE double rough_log_complement(double y) {
  const double near = -y * polynomial(y, 1.0, 0x1p-1, 0x1.5555555555555p-2, 0x1p-2);
  return y < 0x1p-10 ? near : rough_log(1.0 - y);
}
PULLBACK_INLINE float log_ndtr(float x) {
  const bool below = x < 0.0f;
  const double a = size_up_to(0x1p128, x);
  const RoughTail at = rough_tail(kRootHalf.high * a);
  const double square = -0.5 * a * a, ratio = kHalfPerRootPi.high * at.top / at.bottom;
  const double e = rough_value(rough_exp(square > -112.5 ? square : -112.5));
  const double y = below ? square + rough_log(ratio) : rough_log_complement(ratio * e);
  return x == x ? static_cast<float>(y) : x;
}
PULLBACK_INLINE float log_ndtr_ratio(float x, double base) {
  const bool below = x < 0.0f;
  const double a = size_up_to(below ? 0x1p152 : 40.0, x);
  const RoughTail at = rough_tail(kRootHalf.high * a);
  const double square = -0.5 * a * a;
  const double e = rough_value(rough_exp(square > -112.5 ? square : -112.5));
  const double density = kPerRootTwoPi.high * e;
  const double top = below ? kRootTwo.high * at.rest : density * at.bottom;
  const double bottom = below ? at.top : mad(-kRootHalf.high * density, at.top, at.bottom);
  const double y = base + top / bottom;
  return x == x ? static_cast<float>(y) : x;
}
PULLBACK_INLINE float log_ndtr_slope(float x) {
  return log_ndtr_ratio(x, x > 0.0f ? 0.0 : -static_cast<double>(x));
}
PULLBACK_INLINE float log_ndtr_rest(float x) {
  return log_ndtr_ratio(x, x < 0.0f ? 0.0 : static_cast<double>(x));
}

}  // namespace m
}  // namespace
}  // namespace pullback
