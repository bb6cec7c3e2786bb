// Inverse trigonometric functions. Branch-free: the argument is first reduced to near 0, where the
// polynomials (minimax, fitted with 50 digits) are valid; the error of the reduction is added last.
#pragma once

#include "backend/cpu/kernels/vec_two.h"

namespace pullback {
namespace {
namespace m {

constexpr double kTanEighth = 0x1.a827999fcef32p-2;  // of pi

// The angle whose tangent is a / b, for a, b >= 0 that are not both 0 or infinite: eighths of pi,
// plus atan(u) with |u| up to tan(pi / 8).
struct Angle {
  double eighths;  // 0, 2 or 4
  TwoPart u;
};
PULLBACK_INLINE Angle angle_of(double a, double b) {
  const bool small = a <= kTanEighth * b, large = b < kTanEighth * a;
  // (a - b) / (a + b), a / b or -b / a: sums with 0 are exact.
  const TwoPart top = two_sum(large ? 0.0 : a, small ? 0.0 : -b);
  const TwoPart bottom = two_sum(small ? 0.0 : a, large ? 0.0 : b);
  return {small ? 0.0 : (large ? 4.0 : 2.0), divided(top, bottom)};
}
PULLBACK_INLINE double atan_rest(double u) {
  const double z = u * u;
  return u * z *
         polynomial(z, -0x1.5555555555555p-2, 0x1.9999999999953p-3, -0x1.249249248d7dcp-3,
                    0x1.c71c71c303dbbp-4, -0x1.745d165dc9713p-4, 0x1.3b1392d519db1p-4,
                    -0x1.110e87b4357d2p-4, 0x1.e19a0bfa3eef9p-5, -0x1.ac7a5a79b3f26p-5,
                    0x1.74dccfb93fff0p-5, -0x1.1b311bb48c215p-5, 0x1.0acd9e91a5a35p-6);
}
// eighths pi / 8 + sign * the small angle
PULLBACK_INLINE double whole_angle(double eighths, double sign, TwoPart u) {
  const double low = sign * (atan_rest(u.high) + u.low * (1.0 - u.high * u.high));
  const TwoPart whole = two_product(eighths, kPi / 8);
  const TwoPart sum = quick_sum(whole.high, sign * u.high);
  return sum.high + (sum.low + (whole.low + (eighths * (kPiLow / 8) + low)));
}

PULLBACK_INLINE double atan(double x) {
  const double a = magnitude(x);
  const Angle at = angle_of(a > 0x1p60 ? 0x1p60 : a, 1.0);
  const double y = whole_angle(at.eighths, 1.0, at.u);
  return with_sign_of(a < 0x1p-30 ? a : y, x);
}

PULLBACK_INLINE double atan2(double y, double x) {
  double a = magnitude(y), b = magnitude(x);
  const bool none = (a == 0.0) & (b == 0.0);
  const bool far_a = a == kInfinity<double>, far_b = b == kInfinity<double>;
  const bool far = far_a | far_b;
  const double top = a > b ? a : b;
  // Keeps sums and the rounding errors of products in range; lost digits of the smaller do not
  // matter.
  const double scale = top > 0x1p900 ? 0x1p-200 : (top < 0x1p-700 ? 0x1p300 : 1.0);
  a = far ? (far_a ? 1.0 : 0.0) : a * scale;
  b = far ? (far_b ? 1.0 : 0.0) : (none ? 1.0 : b * scale);
  const Angle at = angle_of(a, b);
  const bool left = bits_as<uint64_t>(x) >> 63;
  const double angle =
      left ? whole_angle(8.0 - at.eighths, -1.0, at.u) : whole_angle(at.eighths, 1.0, at.u);
  // A small quotient is the angle itself, subnormal or not.
  const double ratio = a / b;
  const bool tiny = !left & (ratio < 0x1p-30);
  const double size = tiny ? ratio : angle;
  return (x != x) | (y != y) ? kNaN<double> : with_sign_of(size, y);
}

// asin(s) - s for |s| <= 1/2, from s and its square
PULLBACK_INLINE double asin_rest(double s, double z) {
  return s * z *
         polynomial(z, 0x1.5555555555555p-3, 0x1.3333333333389p-4, 0x1.6db6db6dac0eap-5,
                    0x1.f1c71c7a5e151p-6, 0x1.6e8ba121b9d5fp-6, 0x1.1c4efd20ebb99p-6,
                    0x1.c990a42b32b03p-7, 0x1.7b02ef007d23ep-7, 0x1.3b462d121c5d2p-7,
                    0x1.31777489dfd29p-7, 0x1.8dcdf11997e0fp-9, 0x1.40c91fa8deb7ep-6,
                    -0x1.3bd7e353ddbc2p-6, 0x1.e58a4f278e007p-6);
}
// For |x| <= 1/2, asin is s + rest. Otherwise, with s = sqrt((1 - |x|) / 2), it is pi/2 - 2 (s +
// rest).
struct HalfAngle {
  TwoPart s;
  double rest;
  bool near;
};
PULLBACK_INLINE HalfAngle half_angle(double x) {
  const double a = magnitude(x);
  const bool near = a <= 0.5;
  const double z = near ? a * a : 0.5 * (1.0 - a);  // exact for |x| > 1/2
  const TwoPart root = square_root({z, 0.0});
  const TwoPart s = {near ? a : root.high, near ? 0.0 : root.low};
  return {s, asin_rest(s.high, z), near};
}
PULLBACK_INLINE double asin(double x) {
  const HalfAngle h = half_angle(x);
  const TwoPart sum = quick_sum(kPi / 2, -2.0 * h.s.high);
  const double far = sum.high + (sum.low + (kPiLow / 2 - 2.0 * (h.s.low + h.rest)));
  return with_sign_of(h.near ? h.s.high + h.rest : far, x);
}
PULLBACK_INLINE double acos(double x) {
  const HalfAngle h = half_angle(x);
  const bool left = x < 0.0;
  // whole + factor (s + rest)
  const double whole = h.near ? kPi / 2 : (left ? kPi : 0.0);
  const double whole_low = h.near ? kPiLow / 2 : (left ? kPiLow : 0.0);
  const double near_factor = left ? 1.0 : -1.0;
  const double factor = h.near ? near_factor : -2.0 * near_factor;
  const TwoPart sum = quick_sum(whole, factor * h.s.high);
  return sum.high + (sum.low + (whole_low + factor * (h.s.low + h.rest)));
}

// --- float, in double to some 2^-33

PULLBACK_INLINE double atan_rough(double a, double b) {
  const bool small = a <= kTanEighth * b, large = b < kTanEighth * a;
  const double top = small ? a : (large ? -b : a - b);
  const double bottom = small ? b : (large ? a : a + b);
  const double whole = small ? 0.0 : (large ? kPi / 2 : kPi / 4);
  const double u = top / bottom, z = u * u;
  const double p = polynomial(z, -0x1.5555554c099a8p-2, 0x1.99997b10270eap-3, -0x1.248a16707762dp-3,
                              0x1.c57b9120eab27p-4, -0x1.6143778c10af3p-4, 0x1.9d86ebba846aap-5);
  return whole + mad(u * z, p, u);
}
PULLBACK_INLINE float atan(float x) {
  const double a = magnitude(x);
  return with_sign_of(static_cast<float>(atan_rough(a > 0x1p60 ? 0x1p60 : a, 1.0)), x);
}
PULLBACK_INLINE float atan2(float y, float x) {
  double a = magnitude(y), b = magnitude(x);
  const bool none = (a == 0.0) & (b == 0.0);
  const bool far_a = a == kInfinity<double>, far_b = b == kInfinity<double>;
  a = far_a ? 1.0 : (far_b ? 0.0 : a);
  b = far_b | none ? 1.0 : (far_a & (b == b) ? 0.0 : b);
  const double angle = atan_rough(a, b);
  const bool left = bits_as<uint32_t>(x) >> 31;
  const auto size = static_cast<float>(left ? kPi - angle : angle);
  return (x != x) | (y != y) ? kNaN<float> : with_sign_of(size, y);
}
PULLBACK_INLINE double asin_rough_rest(double s, double z) {
  return s * z *
         polynomial(z, 0x1.5555555c06d99p-3, 0x1.33331ec1202bdp-4, 0x1.6dc0f61ccc6c3p-5,
                    0x1.efed0c67f5d24p-6, 0x1.82e318947cfa5p-6, 0x1.5a41fba7de28bp-7,
                    0x1.fbaa70c46e293p-6);
}
// asin(|x|) or pi / 2 minus it, whichever is small.
PULLBACK_INLINE float asin(float x) {
  const double a = magnitude(x);
  const bool near = a <= 0.5;
  const double z = near ? a * a : 0.5 * (1.0 - a);
  const double s = near ? a : __builtin_sqrt(z);
  const double part = s + asin_rough_rest(s, z);
  return with_sign_of(static_cast<float>(near ? part : kPi / 2 - 2.0 * part), x);
}
PULLBACK_INLINE float acos(float x) {
  const double a = magnitude(x);
  const bool near = a <= 0.5, left = x < 0.0f;
  const double z = near ? a * a : 0.5 * (1.0 - a);
  const double s = near ? a : __builtin_sqrt(z);
  const double part = s + asin_rough_rest(s, z);
  const double close = kPi / 2 + (left ? part : -part);
  const double far = left ? kPi - 2.0 * part : 2.0 * part;
  return static_cast<float>(near ? close : far);
}

}  // namespace m
}  // namespace
}  // namespace pullback
