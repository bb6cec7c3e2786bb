// Powers, and the remainder of a float division, branch-free.
//
// pow(a, b) is exp(b log|a|). For double, the logarithm and the product are kept in two parts,
// accurate to some 2^-66, since the result multiplies their error by up to 745. Results for zeros,
// infinities and NaN are in power_checked(), as in IEEE 754.
#pragma once

#include "backend/cpu/kernels/vec_exp.h"

namespace pullback {
namespace {
namespace m {

// log((1 + s) / (1 - s)) + n ln2 = twice_s + rest + n ln2, where s = top / bottom is at most 0.1716
// in size.
struct LogOfQuotient {
  TwoPart twice_s, rest, sum;
};
PULLBACK_INLINE LogOfQuotient log_of_quotient(double top, TwoPart bottom, double n) {
  // log((1 + s) / (1 - s)) = 2 s + s v with z = s^2 and v = z (2/3 + z V(z))
  const double inverse = 1.0 / bottom.high;
  const double s = top * inverse;
  const double divided = s * bottom.high;
  const double rest = ((top - divided) - product_rest(s, bottom.high, divided)) - s * bottom.low;
  const double s_low = rest * inverse;
  const double z = s * s;
  const double z_low = product_rest(s, s, z) + 2.0 * s * s_low;
  const double fifth = polynomial(z, 0x1.9999999999996p-2, 0x1.2492492492f52p-2,
                                  0x1.c71c71c5965ddp-3, 0x1.745d182974a46p-3, 0x1.3b1364c01232cp-3,
                                  0x1.112070b25685p-3, 0x1.de3d2eebfdc2cp-4, 0x1.eac7fbc3989ddp-4);
  const double t = z * fifth;
  const double t_low = product_rest(z, fifth, t) + z_low * fifth;
  constexpr double third = 0x1.5555555555555p-1, third_low = 0x1.5555555555555p-55;
  const double w = third + t;
  const double w_low = (t - (w - third)) + (third_low + t_low);
  const double v = z * w;
  const double v_low = product_rest(z, w, v) + mad(z, w_low, z_low * w);
  const double sv = s * v;
  const double sv_low = product_rest(s, v, sv) + mad(s, v_low, s_low * v);
  // n ln2 + 2 s + s v, larger terms first
  const double whole = n * kLn2High;  // exact
  const double first = whole + 2.0 * s;
  const double second = first + sv;
  const double lost = (2.0 * s - (first - whole)) + (sv - (second - first));
  const double low = lost + mad(n, kLn2Low, 2.0 * s_low + sv_low);
  const double sum = second + low;
  return {{2.0 * s, 2.0 * s_low}, {sv, sv_low}, {sum, low - (sum - second)}};
}

// log(x) for 0 < x < infinity, in two parts.
PULLBACK_INLINE TwoPart log_two(double x) {
  const bool subnormal = x < 0x1p-1022;
  const LogParts parts = log_parts(subnormal ? x * 0x1p54 : x);
  const double bottom = 2.0 + parts.f;
  const double n = parts.n - (subnormal ? 54.0 : 0.0);
  return log_of_quotient(parts.f, {bottom, parts.f - (bottom - 2.0)}, n).sum;
}

// True if b >= 0 is an integer.
template <class F>
PULLBACK_INLINE bool is_whole(F b) {
  constexpr F whole = sizeof(F) == 4 ? F(0x1p23) : F(0x1p52);  // all numbers from here on are
  return (b >= whole) | ((b + whole) - whole == b);
}

// a^b times a factor, from y = |a|^b times the factor; y may have any value if b log|a| is NaN.
template <class F>
PULLBACK_INLINE F power_checked(F a, F b, F factor, F y) {
  using Bits = typename Real<F>::Bits;
  const F size = magnitude(a), power = magnitude(b);
  const bool whole = is_whole(power);
  const bool odd = whole & !is_whole(F(0.5) * power);
  y = bits_as<F>(bits_as<Bits>(y) ^ (odd ? bits_as<Bits>(a) & Real<F>::kSign : Bits(0)));
  y = (a < F(0)) & (size < kInfinity<F>)&!whole ? kNaN<F> : y;
  y = a != a ? a : y;
  const bool one = (b == F(0)) | (a == F(1)) | ((size == F(1)) & (power == kInfinity<F>));
  return one ? factor : y;
}

template <class F, class L>
PULLBACK_INLINE L log_of_size(F size, L log) {
  log = size == F(0) ? -kInfinity<L> : log;
  return size == kInfinity<F> ? kInfinity<L> : log;
}

// a^(b + b_low) times a factor; finite whenever the product is, even if a^b is not.
PULLBACK_INLINE double pow_times(double a, double b, double b_low, double factor) {
  const double size = magnitude(a);
  const TwoPart log = log_two(size);
  const double high = log_of_size(size, log.high);
  const double x = b * high;
  const double low = product_rest(b, high, x) + (b * log.low + b_low * high);
  const bool inside = magnitude(x) < 1000.0;  // the low part is NaN if b is nearly infinite
  const ExpParts p = exp_parts(clamped(x, -1000.0, 1000.0), inside & (low == low) ? low : 0.0);
  const double y = one_plus(p).high;
  const double inner = scaled(y * factor, p.shifted), outer = scaled(y, p.shifted) * factor;
  return power_checked(a, b, factor, inside ? inner : outer);
}
PULLBACK_INLINE float pow_times(float a, float b, float b_low, float factor) {
  const float size = magnitude(a);
  const double x = (double{b} + b_low) * log_of_size(size, rough_log(size));
  const RoughExp e = rough_exp(clamped(x, -600.0, 600.0));
  const double y = mad(e.scale, e.p, e.scale);
  const float outer = static_cast<float>(y) * factor;
  return power_checked(a, b, factor, magnitude(x) < 600.0 ? static_cast<float>(y * factor) : outer);
}
template <class F>
PULLBACK_INLINE F pow(F a, F b) {
  return pow_times(a, b, F(0), F(1));
}

template <class F>
PULLBACK_INLINE F pow_da(F a, F b) {
  const F power = b - F(1), part = power - b;
  const F lost = (b - (power - part)) - (F(1) + part);
  const F y = pow_times(a, power, lost == lost ? lost : F(0), b);
  return b == F(0) ? F(0) : y;
}
template <class F>
PULLBACK_INLINE F pow_db(F a, F b) {
  const F y = pow(a, b) * log(a);
  const F at_zero = b >= F(0) ? F(0) : kNaN<F>;
  return a == F(0) ? at_zero : (a < F(0) ? kNaN<F> : y);
}

// --- division with an integer quotient

// True where fmod_near() is not exact. float computes in double, where the product of b and a
// quotient below 2^29 is exact.
template <class F>
PULLBACK_INLINE bool is_far_quotient(F a, F b) {
  const bool far = magnitude(a / b) >= (sizeof(F) == 4 ? F(0x1p29) : F(0x1p51));
#if !defined(__FMA__)  // for the halves of product_rest()
  const bool extreme = (magnitude(a) > F(0x1p900)) | (magnitude(a) < F(0x1p-900));
  if (sizeof(F) == 8) return (far | extreme) & (magnitude(a) < kInfinity<F>)&(b != F(0));
#endif
  return far & (magnitude(a) < kInfinity<F>)&(b != F(0));
}

// v if `kept`, else 0. gcc stops vectorising after several selections in a row; this form avoids
// it.
template <class F>
PULLBACK_INLINE F kept_if(bool kept, F v) {
  using Bits = typename Real<F>::Bits;
  return bits_as<F>(bits_as<Bits>(v) & (Bits(0) - static_cast<Bits>(kept)));
}

// True if r is not zero and has another sign than b. By the bits, for the same reason.
template <class F>
PULLBACK_INLINE bool is_other_side(F r, F b) {
  using Bits = typename Real<F>::Bits;
  const Bits differs = (bits_as<Bits>(r) ^ bits_as<Bits>(b)) & Real<F>::kSign;
  return (r != F(0)) & (differs != 0);
}

// C's fmod except for the sign of a zero, from r = a - round(a / b) b, which is exact. The quotient
// may be wrong by one, which the sign or the size of r shows.
template <class F>
PULLBACK_INLINE F fmod_from(F r, F a, F b) {
  const F step = with_sign_of(b, a);
  r = r + kept_if(is_other_side(r, a), step);
  r = r - kept_if(magnitude(r) >= magnitude(b), step);
  return magnitude(a) < magnitude(b) ? a : r;
}
PULLBACK_INLINE double fmod_near(double a, double b) {
  const double q = (a / b + kRound) - kRound;
  const double product = q * b;
  return fmod_from((a - product) - product_rest(q, b, product), a, b);
}
PULLBACK_INLINE float fmod_near(float a, float b) {
  const double x = a, y = b;
  const double q = (x / y + kRound) - kRound;
  return static_cast<float>(fmod_from(x - q * y, x, y));
}
PULLBACK_INLINE float fmod_far(float a, float b) { return __builtin_fmodf(a, b); }
PULLBACK_INLINE double fmod_far(double a, double b) { return __builtin_fmod(a, b); }

// Python's remainder, from r = fmod(a, b): it has the sign of b, and floor_divide(a, b) * b +
// remainder(a, b) is a as nearly as possible.
template <class F>
PULLBACK_INLINE F remainder_from(F r, F b) {
  return with_sign_of(r + kept_if(is_other_side(r, b), b), b);
}
template <class F>
PULLBACK_INLINE F floor_divide_from(F r, F a, F b) {
  const F q = (a - r) / b - kept_if(is_other_side(r, b), F(1));
  const F whole = static_cast<F>(__builtin_floor(q));
  const F y = with_sign_of(whole + kept_if(q - whole > F(0.5), F(1)), a / b);
  return b == F(0) ? a / b : y;
}

}  // namespace m
}  // namespace
}  // namespace pullback
