// Sine, cosine, tangent and sinc for |x| <= kTrigLimit, branch-free; the kernels pass larger
// arguments, infinities and NaN to libm. The path of an element depends on its value only, so
// neighbours never change it.
//
// x = n pi/2 + r by Cody and Waite, with pi/2 in parts of 33 bits, whose products with n are exact.
// The polynomials are FreeBSD's (k_sin.c, k_cos.c, k_sinf.c, k_cosf.c). float computes in double.
#pragma once

#include "backend/cpu/kernels/vec_two.h"
#include "backend/cpu/special/entropies.h"

namespace pullback {
namespace {
namespace m {

constexpr double kTrigLimit = 0x1p20;

struct Quarter {
  double r, low;  // |r| <= pi/4, and its rounding error
  uint64_t n;
};

PULLBACK_INLINE Quarter quarter_turns(double x) {
  const double shifted = mad(x, 6.36619772367581382433e-01, kRound);
  const double n = shifted - kRound;
  const double first = mad(-n, 1.57079632673412561417e+00, x);  // exact
  const double w = n * 6.07710050630396597660e-11;              // exact
  const double second = first - w;
  const double lost = (first - second) - w;
  const double rest = n * 2.02226624879595063154e-21 - lost;
  const double r = second - rest;
  return {r, (second - r) - rest, bits_as<uint64_t>(shifted)};
}

// sin(r + low) - r, and cos(r + low) - (1 - r^2 / 2).
PULLBACK_INLINE double sin_rest(double r, double low) {
  const double z = r * r;
  const double p = polynomial(z, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                              2.75573137070700676789e-06, -2.50507602534068634195e-08,
                              1.58969099521155010221e-10);
  const double v = z * r;
  return -((z * (0.5 * low - v * p) - low) - v * -1.66666666666666324348e-01);
}
PULLBACK_INLINE double cos_rest(double r, double low, double z) {
  const double p = z * polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                  2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                  2.08757232129817482790e-09, -1.13596475577881948265e-11);
  return z * p - r * low;
}
PULLBACK_INLINE double sin_near(double r, double low) { return r + sin_rest(r, low); }
PULLBACK_INLINE double cos_near(double r, double low) {
  const double z = r * r;
  const double half = 0.5 * z;
  const double w = 1.0 - half;
  return w + (((1.0 - w) - half) + cos_rest(r, low, z));
}
// The same in two parts.
PULLBACK_INLINE TwoPart sin_two(double r, double low) { return quick_sum(r, sin_rest(r, low)); }
PULLBACK_INLINE TwoPart cos_two(double r, double low) {
  const double z = r * r;
  const double half = 0.5 * z, w = 1.0 - half;
  return quick_sum(w, (((1.0 - w) - half) - 0.5 * product_rest(r, r, z)) + cos_rest(r, low, z));
}
// To float accuracy, including rounding, and in few dependent steps, since tiles of small programs
// are one or two vectors. No float is so near a multiple of pi/2 that a third part of pi/2 would
// matter.
PULLBACK_INLINE Quarter rough_quarter_turns(double x) {
  const double shifted = mad(x, 6.36619772367581382433e-01, kRound);
  const double n = shifted - kRound;
  const double first = mad(-n, 1.57079632673412561417e+00, x);  // exact
  return {mad(-n, 6.07710050650619224932e-11, first), 0.0, bits_as<uint64_t>(shifted)};
}
PULLBACK_INLINE double sin_rough(double r) {
  const double z = r * r;
  const double low = mad(z, 0.0083333293858894631756, -0.166666666416265235595);
  const double high = mad(z, 0.0000027183114939898219064, -0.000198393348360966317347);
  return mad(r * z, mad(z * z, high, low), r);
}
PULLBACK_INLINE double cos_rough(double r) {
  const double z = r * r;
  const double low = mad(z, -0.499999997251031003120, 1.0);
  const double middle = mad(z, -0.00138867637746099294692, 0.0416666233237390631894);
  const double w = z * z;
  return mad(w, mad(w, 0.0000243904487962774090654, middle), low);
}

PULLBACK_INLINE double negative_if(double y, uint64_t odd) {
  return bits_as<double>(bits_as<uint64_t>(y) ^ (odd << 63));
}

PULLBACK_INLINE double sin_small(double x) {
  const Quarter q = quarter_turns(x);
  const double y = q.n & 1 ? cos_near(q.r, q.low) : sin_near(q.r, q.low);
  return x == 0.0 ? x : negative_if(y, q.n >> 1);
}
PULLBACK_INLINE double cos_small(double x) {
  const Quarter q = quarter_turns(x);
  const double y = q.n & 1 ? sin_near(q.r, q.low) : cos_near(q.r, q.low);
  return negative_if(y, (q.n + 1) >> 1);
}
PULLBACK_INLINE float sin_small(float x) {
  const Quarter q = rough_quarter_turns(x);
  const double y = q.n & 1 ? cos_rough(q.r) : sin_rough(q.r);
  return x == 0.0f ? x : static_cast<float>(negative_if(y, q.n >> 1));
}
PULLBACK_INLINE float cos_small(float x) {
  const Quarter q = rough_quarter_turns(x);
  const double y = q.n & 1 ? sin_rough(q.r) : cos_rough(q.r);
  return static_cast<float>(negative_if(y, (q.n + 1) >> 1));
}

PULLBACK_INLINE double tan_small(double x) {
  const Quarter q = quarter_turns(x);
  const bool odd = q.n & 1;
  const TwoPart sine = sin_two(q.r, q.low), cosine = cos_two(q.r, q.low);
  const TwoPart y = divided({odd ? cosine.high : sine.high, odd ? cosine.low : sine.low},
                            {odd ? sine.high : cosine.high, odd ? sine.low : cosine.low});
  return magnitude(x) < 0x1p-30 ? x : negative_if(y.high + y.low, q.n);
}
PULLBACK_INLINE float tan_small(float x) {
  const Quarter q = rough_quarter_turns(x);
  const double sine = sin_rough(q.r), cosine = cos_rough(q.r);
  const double y = q.n & 1 ? -cosine / sine : sine / cosine;
  return x == 0.0f ? x : static_cast<float>(y);
}

// a = n / 2 + r with |r| <= 1/4, exactly.
PULLBACK_INLINE Quarter half_turns(double a) {
  const double shifted = 2.0 * a + kRound;
  return {a - 0.5 * (shifted - kRound), 0.0, bits_as<uint64_t>(shifted)};
}
// sin(pi a) and cos(pi a) for |a| < 2^50.
struct Waves {
  TwoPart sine, cosine;
};
PULLBACK_INLINE Waves waves_of(double a) {
  const Quarter q = half_turns(a);
  const TwoPart t = two_product(q.r, kPi);
  const double low = mad(q.r, kPiLow, t.low);
  const TwoPart sine = sin_two(t.high, low), cosine = cos_two(t.high, low);
  const bool odd = q.n & 1;
  const uint64_t back = q.n >> 1, left = back ^ (q.n & 1);
  return {{negative_if(odd ? cosine.high : sine.high, back),
           negative_if(odd ? cosine.low : sine.low, back)},
          {negative_if(odd ? sine.high : cosine.high, left),
           negative_if(odd ? sine.low : cosine.low, left)}};
}
// sin(pi a) / (pi a)
PULLBACK_INLINE TwoPart sinc_two(double a, TwoPart sine) {
  const TwoPart bottom = two_product(a, kPi);
  return divided(sine, {bottom.high, mad(a, kPiLow, bottom.low)});
}
PULLBACK_INLINE double sinc_small(double a) {
  const TwoPart y = sinc_two(a, waves_of(a).sine);
  // The sum of zeros would lose the sign.
  return magnitude(a) < 0x1p-30 ? 1.0 : with_sign_of(y.high + y.low, y.high);
}
PULLBACK_INLINE float sinc_small(float a) {
  const Quarter q = half_turns(a);
  const double t = q.r * kPi;
  const double y = (q.n & 1 ? cos_rough(t) : sin_rough(t)) / (kPi * a);
  return magnitude(a) < 0x1p-15f ? 1.0f : static_cast<float>(negative_if(y, q.n >> 1));
}

// The derivative of sinc: its Taylor series for |a| <= 1/2, else (cos(pi a) - sinc(a)) / a.
PULLBACK_INLINE double sinc_slope_near(double a) {
  const double z = a * a;
  const double rest =
      a * (z * polynomial(z, 0x1.9f9cb402bc46cp+1, -0x1.24feab558a48dp+0, 0x1.ac6805cf350a6p-3,
                          -0x1.8061c54d78996p-6, 0x1.d2eaa6f80d5a0p-10, -0x1.99a005b794486p-14,
                          0x1.0fc992ff39e13p-18, -0x1.1a5c8a4f71dddp-23, 0x1.d7d6a8252af65p-29,
                          -0x1.43f4975735a0fp-34, 0x1.740d046967d71p-40, -0x1.6aaa885003e6ap-46));
  const TwoPart first = two_product(a, -0x1.a51a6625307d3p+1);
  return first.high + (first.low + mad(a, -0x1.1873d8912200cp-54, rest));
}
PULLBACK_INLINE double sinc_slope_small(double a) {
  const Waves w = waves_of(a);
  const TwoPart y = sinc_two(a, w.sine);
  const TwoPart sum = two_sum(w.cosine.high, -y.high);
  const double far = (sum.high + (sum.low + (w.cosine.low - y.low))) / a;
  return magnitude(a) <= 0.5 ? sinc_slope_near(a) : far;
}
PULLBACK_INLINE float sinc_slope_small(float a) {
  const Quarter q = half_turns(a);
  const double t = q.r * kPi, sine = sin_rough(t), cosine = cos_rough(t);
  const bool odd = q.n & 1;
  const double y = ((odd ? -sine : cosine) - (odd ? cosine : sine) / (kPi * a)) / a;
  const double far = negative_if(y, q.n >> 1);
  return static_cast<float>(magnitude(a) <= 0.5f ? sinc_slope_near(a) : far);
}

template <class F>
PULLBACK_INLINE bool is_small_angle(F x) {
  return (x <= F(kTrigLimit)) & (x >= F(-kTrigLimit));
}

// One element with any argument.
PULLBACK_INLINE float sin(float x) {
  return is_small_angle(x) ? sin_small(x) : static_cast<float>(__builtin_sin(x));
}
PULLBACK_INLINE double sin(double x) { return is_small_angle(x) ? sin_small(x) : __builtin_sin(x); }
PULLBACK_INLINE float cos(float x) {
  return is_small_angle(x) ? cos_small(x) : static_cast<float>(__builtin_cos(x));
}
PULLBACK_INLINE double cos(double x) { return is_small_angle(x) ? cos_small(x) : __builtin_cos(x); }
PULLBACK_INLINE float tan(float x) {
  return is_small_angle(x) ? tan_small(x) : static_cast<float>(__builtin_tan(x));
}
PULLBACK_INLINE double tan(double x) { return is_small_angle(x) ? tan_small(x) : __builtin_tan(x); }
template <class F>
PULLBACK_INLINE F sinc(F x) {
  return is_small_angle(x) ? sinc_small(x) : static_cast<F>(special::sinc(x, 0));
}
// The derivative of sinc of an order.
template <class F>
PULLBACK_INLINE F sinc_derivative(F x, F order) {
  return is_small_angle(x) & (order == F(1)) ? sinc_slope_small(x)
                                             : static_cast<F>(special::sinc(x, order));
}

}  // namespace m
}  // namespace
}  // namespace pullback
