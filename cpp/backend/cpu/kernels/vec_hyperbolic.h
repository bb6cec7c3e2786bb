// Logarithms and powers to other bases, hyperbolic functions and their inverses, cube roots and
// hypot. Branch-free; float in double, double from exponentials and logarithms in two parts.
#pragma once

#include "backend/cpu/kernels/vec_pow.h"
#include "backend/cpu/kernels/vec_two.h"

namespace pullback {
namespace {
namespace m {

// --- other bases

PULLBACK_INLINE double exp2(double x) {
  const double a = clamped(x, -1080.0, 1030.0);
  const TwoPart t = two_product(a, kLn2);
  const ExpParts p = exp_parts(t.high, mad(a, 0x1.abc9e3b39803fp-56, t.low));
  return scaled(one_plus(p).high, p.shifted);
}
PULLBACK_INLINE float exp2(float x) {
  const RoughExp e = rough_exp(clamped(x, -152.0f, 129.0f) * kLn2);
  return static_cast<float>(mad(e.scale, e.p, e.scale));
}

// The logarithm to a base, given 1 / log(base).
PULLBACK_INLINE double log_times(double x, double factor, double factor_low) {
  const TwoPart log = log_two(x);
  const TwoPart y = two_product(log.high, factor);
  return log_checked(x, y.high + (y.low + (log.high * factor_low + log.low * factor)));
}
PULLBACK_INLINE double log2(double x) { return log_times(x, kLog2e, 0x1.777d0ffda0d24p-56); }
PULLBACK_INLINE float log2(float x) {
  return log_checked(x, static_cast<float>(rough_log(x) * kLog2e));
}
constexpr double kLog10e = 0x1.bcb7b1526e50ep-2;
PULLBACK_INLINE double log10(double x) { return log_times(x, kLog10e, 0x1.95355baaafad3p-57); }
PULLBACK_INLINE float log10(float x) {
  return log_checked(x, static_cast<float>(rough_log(x) * kLog10e));
}

// --- hyperbolic functions

// exp(a) and exp(-a) for a >= 0, both without the factor 2^n of exp(a).
struct BothExp {
  ExpParts up, down;
  double ratio;  // 2^(-2n), to the required precision
};
PULLBACK_INLINE BothExp both_exp(double a) {
  const double x = a > 720.0 ? 720.0 : a;
  const ExpParts up = exp_parts(x), down = exp_parts(-x);
  return {up, down, x > 30.0 ? 0.0 : power_of_two(-2 * up.shifted)};
}
PULLBACK_INLINE double sinh(double x) {
  const double a = magnitude(x);
  const BothExp e = both_exp(a);
  // (1 + up) - ratio (1 + down), larger terms first
  const double less = 1.0 - e.ratio, lost = (1.0 - less) - e.ratio;
  const TwoPart first = quick_sum(less, e.up.head);
  const TwoPart second = two_sum(first.high, -(e.ratio * e.down.head));
  const double rest = (lost + first.low + second.low) + (e.up.tail - e.ratio * e.down.tail);
  const double y = scaled(second.high + rest, e.up.shifted - 1);
  return with_sign_of(a < 0x1p-40 ? a : y, x);
}
PULLBACK_INLINE double cosh(double x) {
  const BothExp e = both_exp(magnitude(x));
  const double more = 1.0 + e.ratio, lost = e.ratio - (more - 1.0);
  const TwoPart first = quick_sum(more, e.up.head);
  const TwoPart second = two_sum(first.high, e.ratio * e.down.head);
  const double rest = (lost + first.low + second.low) + (e.up.tail + e.ratio * e.down.tail);
  return scaled(second.high + rest, e.up.shifted - 1);
}
PULLBACK_INLINE float sinh(float x) {
  const RoughExp parts = rough_exp(clamped(magnitude(x), 0.0f, 92.0f));
  const double less = mad(parts.scale, parts.p, parts.scale - 1.0);  // exp(x) - 1
  return with_sign_of(static_cast<float>(0.5 * (less + less / (less + 1.0))), x);
}
PULLBACK_INLINE float cosh(float x) {
  const RoughExp parts = rough_exp(clamped(x, -92.0f, 92.0f));
  const double e = mad(parts.scale, parts.p, parts.scale);
  return static_cast<float>(0.5 * (e + 1.0 / e));
}

// --- their inverses

// log(1 + u) for u >= 0, or log(2 a) for large a.
PULLBACK_INLINE double log1p_or_twice(TwoPart u, double a, bool large) {
  const double v = 1.0 + u.high;
  const double lost = (u.high >= 1.0 ? 1.0 - (v - u.high) : u.high - (v - 1.0)) + u.low;
  const double y = log_sum(large ? a : v, large ? 0.0 : lost / v, large ? -1.0 : 0.0);
  return a < kInfinity<double> ? y : a;
}
constexpr double kLargeInverse = 0x1p30;  // a^2 + 1 rounds to a^2 from here on

// log(1 + (a + a^2 / (1 + sqrt(1 + a^2))))
PULLBACK_INLINE double asinh(double x) {
  const double a = magnitude(x);
  const bool large = a >= kLargeInverse;
  const double b = large ? 1.0 : a;
  const TwoPart square = two_product(b, b);
  const TwoPart sum = two_sum(1.0, square.high);
  const TwoPart root = square_root({sum.high, sum.low + square.low});
  const TwoPart bottom = quick_sum(root.high, 1.0);
  const TwoPart part = divided(square, {bottom.high, bottom.low + root.low});
  const TwoPart u = quick_sum(b, part.high);
  const double y = log1p_or_twice({u.high, u.low + part.low}, a, large);
  return with_sign_of(a < 0x1p-30 ? a : y, x);
}
// log(1 + (t + sqrt(t (t + 2)))) with t = a - 1
PULLBACK_INLINE double acosh(double a) {
  const bool large = a >= kLargeInverse;
  const double b = large ? 2.0 : a;
  const TwoPart t = two_sum(b, -1.0), s = two_sum(b, 1.0);
  const TwoPart product = two_product(t.high, s.high);
  const double low = product.low + (t.high * s.low + t.low * s.high);
  const TwoPart root = square_root({product.high, low});
  const TwoPart u = two_sum(root.high, t.high);
  const double y = log1p_or_twice({u.high, (u.low + t.low) + root.low}, a, large);
  return a < 1.0 ? kNaN<double> : (a == 1.0 ? 0.0 : y);
}
// log(1 + 2 a / (1 - a)) / 2
PULLBACK_INLINE double atanh(double x) {
  const double a = magnitude(x);
  const TwoPart u = divided({2.0 * a, 0.0}, quick_sum(1.0, -a));
  const double y = 0.5 * log1p_two(u.high, u.low);
  return with_sign_of(a < 0x1p-30 ? a : (a > 1.0 ? kNaN<double> : y), x);
}

PULLBACK_INLINE float asinh(float x) {
  const double a = magnitude(x), square = a * a;
  const double near = mad(a * square, polynomial(square, -1.0 / 6, 3.0 / 40, -15.0 / 336), a);
  const double far = rough_log(a + __builtin_sqrt(square + 1.0));
  const double y = a < 0x1p-4 ? near : far;
  return with_sign_of(static_cast<float>(a < kInfinity<double> ? y : a), x);
}
PULLBACK_INLINE float acosh(float a) {
  const double t = double{a} - 1.0;
  const double y = rough_log(1.0 + (t + __builtin_sqrt(t * (t + 2.0))));
  return static_cast<float>(t < 0.0 ? kNaN<double> : (a < kInfinity<float> ? y : double{a}));
}
PULLBACK_INLINE float atanh(float x) {
  const double a = magnitude(x), square = a * a;
  const double near = mad(a * square, polynomial(square, 1.0 / 3, 0.2, 1.0 / 7), a);
  const double far = 0.5 * rough_log((1.0 + a) / (1.0 - a));
  const double y = a < 0x1p-4 ? near : (a <= 1.0 ? far : kNaN<double>);
  return with_sign_of(static_cast<float>(a == 1.0 ? kInfinity<double> : y), x);
}

// --- roots

// The cube root of 2^j (1 + f), without a factor 2^k, and k.
struct CubeRoot {
  double root, of;
  uint64_t shifted;  // its low bits are k
};
PULLBACK_INLINE CubeRoot cube_root(double a) {
  const LogParts parts = log_parts(a);
  const double shifted = mad(parts.n, 1.0 / 3, kRound);
  const double j = parts.n - 3.0 * (shifted - kRound);  // -1, 0 or 1
  const double scale = j < 0.0 ? 0.5 : (j > 0.0 ? 2.0 : 1.0);
  const double start = j < 0.0 ? 0x1.965fea53d6e3dp-1 : (j > 0.0 ? 0x1.428a2f98d728bp+0 : 1.0);
  const double of = scale * (1.0 + parts.f);
  const double y =
      start * polynomial(parts.f, 0x1.000073964110dp+0, 0x1.553db569ec8fep-2, -0x1.c9a5130cbadcbp-4,
                         0x1.0ba77ece90120p-4, -0x1.26e9dff4b8569p-5);
  // Halley's step: 16 bits become 49.
  const double cube = y * y * y;
  return {mad(y, (of - cube) / mad(2.0, cube, of), y), of, bits_as<uint64_t>(shifted)};
}
PULLBACK_INLINE double cbrt(double x) {
  const double a = magnitude(x);
  const bool subnormal = a < 0x1p-1022;
  const CubeRoot c = cube_root(subnormal ? a * 0x1p54 : a);
  // Newton's step, including the rounding error of the cube.
  const double y = c.root, square = y * y, cube = square * y;
  const double rest =
      ((cube - c.of) + product_rest(square, y, cube)) + product_rest(y, y, square) * y;
  const double better = (y - rest / (3.0 * square)) * power_of_two(c.shifted);
  const double root = better * (subnormal ? 0x1p-18 : 1.0);
  return (a > 0.0) & (a < kInfinity<double>) ? with_sign_of(root, x) : x;
}
PULLBACK_INLINE float cbrt(float x) {
  const double a = magnitude(x);
  const CubeRoot c = cube_root(a);
  const auto root = static_cast<float>(c.root * power_of_two(c.shifted));
  return (a > 0.0) & (a < kInfinity<double>) ? with_sign_of(root, x) : x;
}

// sqrt(a^2 + b^2) with one correction (C. F. Borges, "Algorithm 1014: An improved algorithm for
// hypot(x, y)", ACM TOMS 47, 2020).
PULLBACK_INLINE double hypot(double a, double b) {
  const double p = magnitude(a), q = magnitude(b);
  const double top = p > q ? p : q;
  const double up = top < 0x1p-400 ? 0x1p600 : 1.0;
  const double scale = top > 0x1p400 ? 0x1p-600 : up;
  const TwoPart x = two_product(scale * p, scale * p), y = two_product(scale * q, scale * q);
  const TwoPart sum = two_sum(x.high, y.high);
  const TwoPart root = square_root({sum.high, sum.low + (x.low + y.low)});
  const double back = top > 0x1p400 ? 0x1p600 : (top < 0x1p-400 ? 0x1p-600 : 1.0);
  const double length = (root.high + root.low) * back;
  const bool far = (p == kInfinity<double>) | (q == kInfinity<double>);
  return far ? kInfinity<double> : length;
}
PULLBACK_INLINE float hypot(float a, float b) {
  const double length = __builtin_sqrt(double{a} * a + double{b} * b);
  const bool far = (magnitude(a) == kInfinity<float>) | (magnitude(b) == kInfinity<float>);
  return far ? kInfinity<float> : static_cast<float>(length);
}

}  // namespace m
}  // namespace
}  // namespace pullback
