// The error function and its relatives, the normal distribution among them. Start at Tail: all but
// erf follow from one function Q of t >= 0,
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

namespace pullback {
namespace {
namespace m {

// The polynomial of a table's coefficients, from `first` on.
template <int first = 0, int n>
PULLBACK_INLINE double polynomial_of(const double (&c)[n], double x) {
  double sum = c[n - 1];
#pragma GCC unroll 32
  for (int k = n - 2; k >= first; --k) sum = mad(sum, x, c[k]);
  return sum;
}

// erf(a) = a + a (c + z (k + z P(z))) with z = a^2 below 0.9, else 1 - exp(-z) (g + t G(t)) with
// t = (a - 2) / (a + 2); what the larger sums lose is added last.
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

constexpr TwoPart kPerRootPi = {0x1.20dd750429b6dp-1, 0x1.1ae3a914fed80p-57};
constexpr TwoPart kTwicePerRootPi = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
constexpr TwoPart kHalfPerRootPi = {0x1.20dd750429b6dp-2, 0x1.1ae3a914fed80p-58};
constexpr TwoPart kPerRootTwoPi = {0x1.9884533d43651p-2, -0x1.cbc0d30ebfd15p-56};
constexpr TwoPart kRootHalf = {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};

// --- double, in two parts

PULLBACK_INLINE TwoPart product(TwoPart a, TwoPart b) {
  const double high = a.high * b.high;
  return {high, product_rest(a.high, b.high, high) + (a.high * b.low + a.low * b.high)};
}
PULLBACK_INLINE TwoPart quotient(TwoPart top, TwoPart bottom) {
  const double inverse = 1.0 / bottom.high, q = top.high * inverse;
  const double rest = division_rest(top.high, bottom.high, q) + (top.low - q * bottom.low);
  return {q, rest * inverse};
}

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

// -a^2 and -a^2 / 2. Each ulp of a^2 would cost as many of the result as a^2 is.
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

// t + Q(t) = bottom / top and Q(t) = rest / top. The slope of (1.5 + t) Q(t) is small where the
// variable of its polynomial has lost most, at 0.
struct Tail {
  TwoPart rest, top, bottom;
};
PULLBACK_INLINE Tail tail(TwoPart t) {
  const double u = (t.high - 3.0) / (t.high + 3.0);
  const double curve = u * polynomial_of<2>(kTailRest, u);
  const TwoPart slope = quick_sum(kTailRest[1], curve), more = product({u, 0.0}, slope);
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
// `whole` less a tail of at most half of it: the terms in the order of their size.
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

PULLBACK_INLINE double ndtr(double x) {
  const double a = size_up_to(40.0, x);
  const ScaledTwo lower =
      upper_tail(kHalfPerRootPi, product({a, 0.0}, kRootHalf), minus_half_square(a));
  return x < 0.0 ? rounded(lower) : complement(1.0, lower);
}
// exp(-x^2 / 2) / sqrt(2 pi)
PULLBACK_INLINE double ndtr_slope(double x) {
  return rounded(exp_times(kPerRootTwoPi, minus_half_square(size_up_to(40.0, x))));
}

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

}  // namespace m
}  // namespace
}  // namespace pullback
