// Exponentials and logarithms, branch-free so that the compiler vectorises the loops around them.
//
// Float functions compute in double, where no formula needs a correction, and round once. For
// double, the formulas are the classic ones: exp reduces x to n ln2 + r and scales 1 + r + r^2 q(r)
// by 2^n in two steps, which keeps subnormal results; log splits off the exponent and sums the high
// part and the correction separately. Polynomials are minimax, fitted with 60 digits. Start at
// exp().
//
// Included by files that are compiled once per instruction set. Everything is in an anonymous
// namespace and nothing of std:: is instantiated; otherwise the linker could keep the AVX-512 copy
// of an inline function for all of them. Vector bodies and tails of loops must return the same
// bits, so only + - * / sqrt, fused multiply-add and bit operations are used.
#pragma once

#include <cstdint>

namespace pullback {
namespace {
namespace m {

#define PULLBACK_INLINE [[gnu::always_inline]] inline

template <class To, class From>
PULLBACK_INLINE To bits_as(From from) {
  return __builtin_bit_cast(To, from);
}

// a * b + c: fused if the instruction set has it. Otherwise the formulas below are still valid,
// with a slightly larger error. PULLBACK_NO_FMA selects the same bits everywhere.
PULLBACK_INLINE float mad(float a, float b, float c) {
#if defined(__FMA__) && !defined(PULLBACK_NO_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
PULLBACK_INLINE double mad(double a, double b, double c) {
#if defined(__FMA__) && !defined(PULLBACK_NO_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// c0 + c1 x + c2 x^2 + …
template <class F>
PULLBACK_INLINE F polynomial(F, F c) {
  return c;
}
template <class F, class... Rest>
PULLBACK_INLINE F polynomial(F x, F c, Rest... rest) {
  return mad(polynomial(x, static_cast<F>(rest)...), x, c);
}

// The layout of the bits.
template <class F>
struct Real;
template <>
struct Real<float> {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x80000000u;
};
template <>
struct Real<double> {
  using Bits = uint64_t;
  static constexpr Bits kSign = 0x8000000000000000u;
};

template <class F>
constexpr F kInfinity = static_cast<F>(__builtin_inf());
template <class F>
constexpr F kNaN = static_cast<F>(__builtin_nan(""));

template <class F>
PULLBACK_INLINE F magnitude(F x) {
  return bits_as<F>(bits_as<typename Real<F>::Bits>(x) & ~Real<F>::kSign);
}
template <class F>
PULLBACK_INLINE F with_sign_of(F value, F sign) {
  using R = Real<F>;
  return bits_as<F>((bits_as<typename R::Bits>(value) & ~R::kSign) |
                    (bits_as<typename R::Bits>(sign) & R::kSign));
}

constexpr double kRound = 0x1.8p52;  // adding it leaves an integer in the low bits
constexpr double kLog2e = 0x1.71547652b82fep+0;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLn2High = 0x1.62e42feep-1;  // few bits: its product with n is exact
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

template <class F>
PULLBACK_INLINE F clamped(F x, F low, F high) {
  x = x > high ? high : x;
  return x < low ? low : x;
}

// --- double

// The rounding error of `product` = a b.
PULLBACK_INLINE double product_rest(double a, double b, double product) {
#if defined(__FMA__) && !defined(PULLBACK_NO_FMA)
  return mad(a, b, -product);
#else
  // Dekker's method: each factor in two halves of 26 bits.
  const double a_wide = a * 0x1.0000002p27, b_wide = b * 0x1.0000002p27;
  const double a_high = a_wide - (a_wide - a), b_high = b_wide - (b_wide - b);
  const double a_low = a - a_high, b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

// The rounding error of a quotient q = top / bottom, times bottom.
PULLBACK_INLINE double division_rest(double top, double bottom, double q) {
  const double product = q * bottom;
  return (top - product) - product_rest(q, bottom, product);
}
// Exact if multiplications and additions are fused.
PULLBACK_INLINE float division_rest(float top, float bottom, float q) {
  return mad(-q, bottom, top);
}

// exp(x) = 2^n (1 + head + tail), the tail below a 50th of the head. A NaN stays in both.
struct ExpParts {
  double head, tail;
  uint64_t shifted;  // its low bits are n in two's complement
};

// exp(x + low) for |x + low| <= 1000 and a low below 2^-20.
PULLBACK_INLINE ExpParts exp_parts(double x, double low = 0.0) {
  const double shifted = mad(x, kLog2e, kRound);
  const double n = shifted - kRound;
  const double first = mad(-n, kLn2High, x);  // exact
  const double second = mad(-n, kLn2Low, low);
  const double r = first + second;  // |r| <= ln2 / 2
  const double lost = (first - r) + second;
  // r + r^2/2 in two parts, and (exp(r) - 1 - r - r^2/2) / r^3
  const double square = r * r;
  const double head = r + 0.5 * square;
  const double head_low = (0.5 * square - (head - r)) + 0.5 * product_rest(r, r, square);
  const double q = polynomial(r, 0x1.555555555555cp-3, 0x1.5555555555555p-5, 0x1.111111110e9a4p-7,
                              0x1.6c16c16c16b3p-10, 0x1.a01a01b4749d3p-13, 0x1.a01a01a3ca5d7p-16,
                              0x1.71ddedeb84a5bp-19, 0x1.27e4e2494e8c4p-22, 0x1.af6f76a8437c5p-26,
                              0x1.1f684709d586cp-29);
  return {head, mad(r * square, q, head_low + mad(lost, r, lost)), bits_as<uint64_t>(shifted)};
}

// 2^(n + more)
PULLBACK_INLINE double power_of_two(uint64_t shifted, int more = 0) {
  return bits_as<double>((shifted + static_cast<uint64_t>(1023 + more)) << 52);
}

// y * 2^n in two steps, so that n may be slightly outside of the exponent's range.
PULLBACK_INLINE double scaled(double y, uint64_t shifted) {
  const uint64_t both = shifted + 2046;  // n and both biases
  const uint64_t half = both >> 1;
  return y * bits_as<double>(half << 52) * bits_as<double>((both - half) << 52);
}

// 1 + head + tail, rounded once, and the error of that rounding.
struct TwoPart {
  double high, low;
};
PULLBACK_INLINE TwoPart one_plus(const ExpParts& p) {
  const double first = 1.0 + p.head;
  const double rest = (p.head - (first - 1.0)) + p.tail;
  const double sum = first + rest;
  return {sum, rest - (sum - first)};
}

// exp overflows below 710 and is zero below -746; expm1 rounds to -1 below -45.
PULLBACK_INLINE double exp(double x) {
  const ExpParts p = exp_parts(clamped(x, -746.0, 710.0));
  return scaled(one_plus(p).high, p.shifted);
}

PULLBACK_INLINE double expm1(double x) {
  const ExpParts p = exp_parts(clamped(x, -45.0, 710.0));
  // Half of 2^n (head + tail) + (2^n - 1): the larger terms first, and the error of their sum.
  const double scale = power_of_two(p.shifted, -1);
  const double base = scale - 0.5;
  const double term = scale * p.head;
  const double sum = base + term;
  const double lost = (term - (sum - base)) + ((scale - base) - 0.5);
  const double y = 2.0 * (sum + mad(scale, p.tail, lost));
  return magnitude(x) < 0x1p-60 ? x : y;
}

// x = 2^n (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for normal x > 0.
struct LogParts {
  double n, f;
};
PULLBACK_INLINE LogParts log_parts(double x) {
  constexpr uint64_t root_half = 0x3fe6a09e667f3bcdu;
  const uint64_t moved = bits_as<uint64_t>(x) + (0x3ff0000000000000u - root_half);
  // The exponent as a number: its bits are placed under those of 2^52.
  const double n = bits_as<double>((moved >> 52) | bits_as<uint64_t>(0x1p52)) - (0x1p52 + 1023.0);
  return {n, bits_as<double>((moved & 0xfffffffffffffu) + root_half) - 1.0};
}

// log(u + c) for normal u > 0 and a c below half an ulp of u, given as c / u; not rounded yet.
PULLBACK_INLINE TwoPart log_two(double u, double ratio, double exponent_bias) {
  const LogParts p = log_parts(u);
  const double n = p.n - exponent_bias;
  // With s = f / (2 + f): log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)); R from FreeBSD's e_log.c.
  const double s = p.f / (2.0 + p.f);
  const double z = s * s;
  const double r =
      z * polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01,
                     2.857142874366239149e-01, 2.222219843214978396e-01, 1.818357216161805012e-01,
                     1.531383769920937332e-01, 1.479819860511658591e-01);
  // n ln2 and f - f^2/2, exact to the required precision
  const double square = p.f * p.f;
  const double half = 0.5 * square;
  const double head = p.f - half;
  const double head_low = ((p.f - head) - half) - 0.5 * product_rest(p.f, p.f, square);
  const double high = n * kLn2High;  // exact
  const double sum = high + head;
  const double lost = (head - (sum - high)) + head_low;
  return {sum, mad(s, half + r, lost + mad(n, kLn2Low, ratio))};
}
PULLBACK_INLINE double log_sum(double u, double ratio, double exponent_bias) {
  const TwoPart y = log_two(u, ratio, exponent_bias);
  return y.high + y.low;
}

// The logarithm where the formulas do not hold: at 0, for negative numbers, infinity and NaN.
template <class F>
PULLBACK_INLINE F log_checked(F x, F y) {
  y = x == F(0) ? -kInfinity<F> : y;
  y = x < F(0) ? kNaN<F> : y;
  return x < kInfinity<F> ? y : x;
}

PULLBACK_INLINE double log(double x) {
  const bool subnormal = x < 0x1p-1022;
  return log_checked(x, log_sum(subnormal ? x * 0x1p54 : x, 0.0, subnormal ? 54.0 : 0.0));
}

// log(1 + x + low) for a low far below x.
PULLBACK_INLINE double log1p_two(double x, double low) {
  const double u = 1.0 + x;
  const double lost = (x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0)) + low;
  double y = log_sum(u, lost / u, 0.0);
  y = x == -1.0 ? -kInfinity<double> : y;
  y = x < -1.0 ? kNaN<double> : y;
  y = magnitude(x) < 0x1p-60 ? x : y;
  return x < kInfinity<double> ? y : x;
}
PULLBACK_INLINE double log1p(double x) { return log1p_two(x, 0.0); }

// --- float, in double to some 2^-34; only the rounding to float remains

// exp(x) = scale (1 + p) for |x| <= 700; p is accurate near 0 too.
struct RoughExp {
  double scale, p;
};
PULLBACK_INLINE RoughExp rough_exp(double x) {
  constexpr double round = kRound + 1023;  // the low bits are those of 2^n
  const double shifted = mad(x, kLog2e, round);
  const double r = mad(round - shifted, kLn2, x);
  return {bits_as<double>(bits_as<uint64_t>(shifted) << 52),
          r * polynomial(r, 1.0, 0x1.0000003a2820dp-1, 0x1.55555443af98cp-3, 0x1.55548dc1cf19p-5,
                         0x1.1112704dc7adep-7, 0x1.6d8d06ed2c40dp-10, 0x1.9f08e572071a6p-13)};
}

// log(x) for normal x > 0.
PULLBACK_INLINE double rough_log(double x) {
  const LogParts parts = log_parts(x);
  const double s = parts.f / (2.0 + parts.f);
  const double z = s * s;
  const double twice = polynomial(z, 2.0, 0x1.555555561e74p-1, 0x1.999996a8c9f17p-2,
                                  0x1.249412242f6b6p-2, 0x1.c62b0291b5129p-3, 0x1.91169aa02410fp-3);
  return mad(parts.n, kLn2, s * twice);
}

PULLBACK_INLINE float exp(float x) {
  const RoughExp e = rough_exp(clamped(x, -105.0f, 89.0f));
  return static_cast<float>(mad(e.scale, e.p, e.scale));
}
PULLBACK_INLINE float expm1(float x) {
  const RoughExp e = rough_exp(clamped(x, -20.0f, 89.0f));
  return with_sign_of(static_cast<float>(mad(e.scale, e.p, e.scale - 1.0)), x);
}
PULLBACK_INLINE float log(float x) { return log_checked(x, static_cast<float>(rough_log(x))); }
PULLBACK_INLINE float log1p(float x) {
  const float y = static_cast<float>(rough_log(1.0 + x));
  return magnitude(x) < 0x1p-27f ? x : log_checked(1.0f + x, y);
}

}  // namespace m
}  // namespace
}  // namespace pullback
