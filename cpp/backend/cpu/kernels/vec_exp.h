// Exponentials and logarithms, branch-free so that the compiler vectorises the loops around them.
//
// Everything is a template over float and double; Real<F> holds what differs: the layout of the
// bits, ln 2 in two parts and the polynomials (minimax, fitted at 40 digits). The recipes are the
// classic ones: exp reduces x to n ln2 + r and scales 1 + r + r^2 q(r) by 2^n in two steps, so that
// subnormal results are kept; log splits off the exponent and sums high part and correction apart.
// Start at exp().
//
// Included by files that are compiled once per instruction set: all is in an anonymous namespace
// and nothing of std:: is instantiated, or the linker could keep the AVX-512 copy of an inline
// function for everybody. The same holds for the tail of a loop and its body: only + - * / sqrt,
// fused multiply-add and bit operations, so both give the same bits.
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

// a * b + c: fused where the instruction set has it. Without it the recipes below still hold, with
// a slightly larger error. PULLBACK_NO_FMA asks for the same bits everywhere.
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

template <class F>
struct Real;

template <>
struct Real<float> {
  using Bits = uint32_t;
  static constexpr int kDigits = 23;
  static constexpr Bits kBias = 127;
  static constexpr Bits kSign = 0x80000000u;
  static constexpr Bits kRootHalf = 0x3f3504f3u;  // bits of sqrt(1/2)
  static constexpr float kRound = 0x1.8p23f;      // added, it leaves an integer in the low bits
  static constexpr float kTiny = 0x1p-30f;        // below it expm1(x) and log1p(x) are x
  static constexpr float kSmallest = 0x1p-126f;   // normal
  static constexpr float kUp = 0x1p24f;           // makes a subnormal normal
  static constexpr float kUpExponent = 24.0f;
  static constexpr float kExpHigh = 89.0f;    // exp overflows below it
  static constexpr float kExpLow = -105.0f;   // exp is zero above it
  static constexpr float kMinusOne = -20.0f;  // expm1 rounds to -1 above it
  static constexpr float kLog2e = 0x1.715476p+0f;
  static constexpr float kLn2High = 0x1.62e4p-1f;  // few bits: its product with n is exact
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;

  // (exp(r) - 1 - r) / r^2 for |r| <= ln2 / 2
  PULLBACK_INLINE static float exp_tail(float r) {
    return polynomial(r, 0x1p-1f, 0x1.55548ep-3f, 0x1.55545ep-5f, 0x1.123b92p-7f, 0x1.6db48p-10f);
  }
  // log(1 + f) - f for sqrt(1/2) <= 1 + f < sqrt(2)
  PULLBACK_INLINE static float log_tail(float f) {
    const float z = f * f;
    const float p =
        polynomial(f, 0x1.555546p-2f, -0x1.ffffeep-3f, 0x1.99a546p-3f, -0x1.5562e4p-3f,
                   0x1.2332cp-3f, -0x1.fb4322p-4f, 0x1.e6508cp-4f, -0x1.e2e9d8p-4f, 0x1.1b431ep-4f);
    return mad(f * z, p, -0.5f * z);
  }
};

template <>
struct Real<double> {
  using Bits = uint64_t;
  static constexpr int kDigits = 52;
  static constexpr Bits kBias = 1023;
  static constexpr Bits kSign = 0x8000000000000000u;
  static constexpr Bits kRootHalf = 0x3fe6a09e667f3bcdu;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kTiny = 0x1p-60;
  static constexpr double kSmallest = 0x1p-1022;
  static constexpr double kUp = 0x1p54;
  static constexpr double kUpExponent = 54.0;
  static constexpr double kExpHigh = 710.0;
  static constexpr double kExpLow = -746.0;
  static constexpr double kMinusOne = -45.0;
  static constexpr double kLog2e = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

  PULLBACK_INLINE static double exp_tail(double r) {
    return polynomial(r, 0x1.000000000000cp-1, 0x1.5555555555561p-3, 0x1.555555554ffeap-5,
                      0x1.111111110d608p-7, 0x1.6c16c185b70cbp-10, 0x1.a01a01baf3141p-13,
                      0x1.a0199667e1767p-16, 0x1.71dddfa6353a8p-19, 0x1.28b072bb6451fp-22,
                      0x1.af85c38c7753ap-26);
  }
  // With s = f / (2 + f): log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)); R from FreeBSD's e_log.c.
  PULLBACK_INLINE static double log_tail(double f) {
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double half = 0.5 * f * f;
    const double r =
        z * polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01,
                       2.857142874366239149e-01, 2.222219843214978396e-01, 1.818357216161805012e-01,
                       1.531383769920937332e-01, 1.479819860511658591e-01);
    return mad(s, half + r, -half);
  }
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

// exp(x) = 2^n (1 + r + tail). A NaN stays in r.
template <class F>
struct ExpParts {
  F r, tail;
  typename Real<F>::Bits n;  // two's complement
};

template <class F>
PULLBACK_INLINE ExpParts<F> exp_parts(F x) {
  using R = Real<F>;
  const F shifted = mad(x, R::kLog2e, R::kRound);
  const F n = shifted - R::kRound;
  const F high = mad(-n, R::kLn2High, x);  // exact
  const F low = n * R::kLn2Low;
  const F r = high - low;
  const F lost = (high - r) - low;
  return {r, mad(r * r, R::exp_tail(r), lost),
          bits_as<typename R::Bits>(shifted) - bits_as<typename R::Bits>(R::kRound)};
}

template <class F>
PULLBACK_INLINE F power_of_two(typename Real<F>::Bits n) {
  return bits_as<F>((n + Real<F>::kBias) << Real<F>::kDigits);
}

// y * 2^n in two steps, so that n may lie a little outside the exponent's range.
template <class F>
PULLBACK_INLINE F scaled(F y, typename Real<F>::Bits n) {
  const auto half = ((n + 2048) >> 1) - 1024;
  return y * power_of_two<F>(half) * power_of_two<F>(n - half);
}

// 1 + r + tail, rounded once, and what that rounding loses.
template <class F>
struct TwoPart {
  F high, low;
};
template <class F>
PULLBACK_INLINE TwoPart<F> one_plus(const ExpParts<F>& p) {
  const F first = F(1) + p.r;
  const F rest = (p.r - (first - F(1))) + p.tail;
  const F sum = first + rest;
  return {sum, rest - (sum - first)};
}

template <class F>
PULLBACK_INLINE F clamp_for_exp(F x, F low) {
  x = x > Real<F>::kExpHigh ? Real<F>::kExpHigh : x;
  return x < low ? low : x;
}

template <class F>
PULLBACK_INLINE F exp(F x) {
  const ExpParts<F> p = exp_parts(clamp_for_exp(x, Real<F>::kExpLow));
  return scaled(one_plus(p).high, p.n);
}

template <class F>
PULLBACK_INLINE F expm1(F x) {
  using R = Real<F>;
  const ExpParts<F> p = exp_parts(clamp_for_exp(x, R::kMinusOne));
  // Half of 2^n (r + tail) + (2^n - 1), the larger terms first and what their sum loses.
  const F scale = power_of_two<F>(p.n - 1);
  const F base = scale - F(0.5);
  const F term = scale * p.r;
  const F sum = base + term;
  const F lost = (term - (sum - base)) + ((scale - base) - F(0.5));
  const F y = F(2) * (sum + mad(scale, p.tail, lost));
  return magnitude(x) < R::kTiny ? x : y;
}

// log(u + c) for normal u > 0 and a c below half an ulp of u, given as c / u.
template <class F>
PULLBACK_INLINE F log_sum(F u, F ratio, F exponent_bias) {
  using R = Real<F>;
  using Bits = typename R::Bits;
  const Bits one = bits_as<Bits>(F(1));
  const Bits moved = bits_as<Bits>(u) + (one - R::kRootHalf);
  // The exponent as a number: its bits placed under those of 2^digits.
  const F big = static_cast<F>(Bits(1) << R::kDigits);
  const F n = bits_as<F>((moved >> R::kDigits) | bits_as<Bits>(big)) -
              (big + static_cast<F>(R::kBias)) - exponent_bias;
  const F f = bits_as<F>((moved & ((Bits(1) << R::kDigits) - 1)) + R::kRootHalf) - F(1);
  const F high = n * R::kLn2High;  // exact
  const F sum = high + f;
  const F lost = f - (sum - high);
  return sum + (lost + (mad(n, R::kLn2Low, ratio) + R::log_tail(f)));
}

template <class F>
PULLBACK_INLINE F log(F x) {
  using R = Real<F>;
  const bool subnormal = x < R::kSmallest;
  const F u = subnormal ? x * R::kUp : x;
  F y = log_sum(u, F(0), subnormal ? R::kUpExponent : F(0));
  y = x == F(0) ? -kInfinity<F> : y;
  y = x < F(0) ? kNaN<F> : y;
  return x < kInfinity<F> ? y : x;  // infinity and NaN are their own
}

// log(1 + x + low) for a low far below x.
template <class F>
PULLBACK_INLINE F log1p_two(F x, F low) {
  const F u = F(1) + x;
  const F lost = (x >= F(1) ? F(1) - (u - x) : x - (u - F(1))) + low;
  F y = log_sum(u, lost / u, F(0));
  y = x == F(-1) ? -kInfinity<F> : y;
  y = x < F(-1) ? kNaN<F> : y;
  y = magnitude(x) < Real<F>::kTiny ? x : y;
  return x < kInfinity<F> ? y : x;
}
template <class F>
PULLBACK_INLINE F log1p(F x) {
  return log1p_two(x, F(0));
}

}  // namespace m
}  // namespace
}  // namespace pullback
