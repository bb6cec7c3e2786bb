// Bessel functions of the first and second kind, of orders 0 and 1. Start at wave_two: for x >= 2,
//
//   J = M cos(theta), Y = M sin(theta),  theta = x - (2 v + 1) pi/4 + (4 v^2 - 1) / (8 x) + …
//
// (DLMF 10.18), where x theta and pi x M^2 / 2 without their first terms are polynomials in
// (x - 6) / (x + 2). So no terms cancel at a root. theta is reduced to a multiple of pi/2 in three
// parts, for |x| <= kTrigLimit; the kernels pass larger arguments to special::far_wave. Below 2,
// where J and Y have one root only, power series are summed. tools/bessel_tables computes all
// coefficients.
//
// For float everything is computed in double; for double in two parts.
#pragma once

#include "backend/cpu/kernels/bessel_tables.h"
#include "backend/cpu/kernels/vec_error.h"
#include "backend/cpu/kernels/vec_trig.h"
#include "backend/cpu/special/bessel.h"

namespace pullback {
namespace {
namespace m {

constexpr TwoPart kTwoPerPi = {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55};
constexpr double kQuarterPi[] = {0x1.921fb544p-1, 0x1.0b4611a4p-35, 0x1.13198a2e03707p-66};
constexpr double kLeastWave = 2.0;
constexpr double kThird = 0x1.5555555555555p-2;
constexpr TwoPart kLogHalf = {-0x1.dadb014541eb2p-4, -0x1.be095d05c0a81p-62};  // + Euler's constant

PULLBACK_INLINE TwoPart sum(TwoPart a, TwoPart b) {
  const TwoPart y = two_sum(a.high, b.high);
  return quick_sum(y.high, y.low + (a.low + b.low));
}

// --- arguments

// True unless x needs special::far_wave.
template <class F>
PULLBACK_INLINE bool is_bessel_near(F x) {
  const F size = magnitude(x);
  return !(size > F(kTrigLimit)) | (size == kInfinity<F>);
}

// theta = n pi/2 + r of orders 0 and 1, from x - pi/4 + phase, for x up to kTrigLimit; |r| is about
// pi/4 at most.
PULLBACK_INLINE Quarter bessel_turns(double x, TwoPart phase) {
  const double shifted = mad((x - 0.25 * kPi) + phase.high, kTwoPerPi.high, kRound);
  const double odd = mad(2.0, shifted - kRound, 1.0);
  const double first = mad(-odd, kQuarterPi[0], x);  // exact, like the next product
  const TwoPart second = two_sum(first, -(odd * kQuarterPi[1]));
  const TwoPart third = two_sum(second.high, phase.high);
  const double rest = third.low + ((second.low + phase.low) - odd * kQuarterPi[2]);
  const TwoPart r = quick_sum(third.high, rest);
  return {r.high, r.low, bits_as<uint64_t>(shifted)};
}

struct Function {
  int v;
  bool second;
};
constexpr Function kJ0 = {0, false}, kJ1 = {1, false}, kY0 = {0, true}, kY1 = {1, true};

// Sets the values at 0, at infinity and for negative x.
template <Function f, class F>
PULLBACK_INLINE F bessel_checked(F x, F y) {
  y = magnitude(x) == kInfinity<F> ? F(0) : y;
  if constexpr (f.second) {
    y = x == F(0) ? -kInfinity<F> : y;
    y = x < F(0) ? kNaN<F> : y;
  } else if constexpr (f.v) {
    y = x < F(0) ? -y : y;
  }
  return x == x ? y : x;
}

// --- double, in two parts

// The size and the phase, theta - x + pi/4, for x >= 2; and J or Y from these. With the angle of
// order 0 for both orders, J0 and -Y1 are the cosine, Y0 and J1 the sine.
struct Polar {
  TwoPart size, phase;
};
template <int v>
PULLBACK_INLINE Polar polar_two(double x) {
  const double t = (x - 6.0) / (x + 2.0), high = 1.0 / x;
  const TwoPart inverse = {high, high * division_rest(1.0, x, high)};
  constexpr double lead = v ? 0.375 : -0.125;
  const double phase = lead * high;
  double phase_low = lead * inverse.low;
  if constexpr (v) phase_low += product_rest(lead, high, phase);
  const double curve = v ? polynomial_of(kPhase1, t) : polynomial_of(kPhase0, t);
  const double modulus = v ? polynomial_of(kModulus1, t) : polynomial_of(kModulus0, t);
  return {square_root(product(product(kTwoPerPi, quick_sum(1.0, modulus)), inverse)),
          quick_sum(phase, mad(high, curve, phase_low))};
}
template <Function f>
PULLBACK_INLINE TwoPart wave_of(TwoPart size, const Quarter& q) {
  const TwoPart sine = sin_two(q.r, q.low), cosine = cos_two(q.r, q.low);
  constexpr bool is_sine = f.v != f.second;
  const bool swap = is_sine == bool(q.n & 1);
  const TwoPart y = product(size, {swap ? cosine.high : sine.high, swap ? cosine.low : sine.low});
  const uint64_t sign = ((q.n + !is_sine) >> 1) + (f.v & f.second);
  return {negative_if(y.high, sign), negative_if(y.low, sign)};
}
template <Function f>
PULLBACK_INLINE TwoPart wave_two(double x) {
  const Polar at = polar_two<f.v>(x);
  return wave_of<f>(at.size, bessel_turns(x, at.phase));
}

// x^2, x^4, J0 and 2 J1 / x for 0 <= x <= 2.
struct NearJ {
  TwoPart z, zz, j0, ratio;
};
PULLBACK_INLINE NearJ near_j(double x) {
  const TwoPart z = two_product(x, x), zz = product(z, z);
  const double p = z.high * polynomial_of(kNearJ0, z.high);
  TwoPart j0 = quick_sum(1.0, -0.25 * z.high);
  j0.low -= 0.25 * z.low;
  j0 = sum(j0, {0x1p-6 * zz.high, mad(0x1p-6, zz.low, -(zz.high * p))});
  const double q = z.high * polynomial_of(kNearJ1, z.high);
  const TwoPart j1 = quick_sum(1.0, -0.125 * z.high);
  const double rest = mad(zz.high, kThird / 64.0 - q, j1.low - 0.125 * z.low);
  return {z, zz, j0, quick_sum(j1.high, rest)};
}
// log(x / 2) + Euler's constant
PULLBACK_INLINE TwoPart bessel_log(double x) {
  const bool subnormal = x < 0x1p-1022;
  const TwoPart log = log_two(subnormal ? x * 0x1p54 : x, 0.0, subnormal ? 54.0 : 0.0);
  return sum(kLogHalf, log);
}
PULLBACK_INLINE TwoPart near_y0(double x) {
  const NearJ at = near_j(x);
  const double p = at.z.high * polynomial_of(kNearY0, at.z.high);
  const TwoPart c = product(-0x1.8p-6, at.zz);
  const TwoPart rest =
      sum({0.25 * at.z.high, 0.25 * at.z.low}, {c.high, mad(at.zz.high, p, c.low)});
  return product(kTwoPerPi, sum(product(bessel_log(x), at.j0), rest));
}
// Times 2^-200 for x < 2^-900, where only the first term, 1 / x, matters.
PULLBACK_INLINE TwoPart near_y1(double x) {
  const NearJ at = near_j(x);
  const double p = at.z.high * polynomial_of<1>(kNearY1, at.z.high);
  const TwoPart cube = product(x, at.z), fifth = product(cube, at.z);
  const TwoPart b = product(0x1.4p-4, cube), c = product(-kNearY1[0], fifth);
  const TwoPart rest = sum(sum({-0.25 * x, 0.0}, b), {c.high, mad(-fifth.high, p, c.low)});
  const double u = x < 0x1p-900 ? x * 0x1p200 : x, high = 1.0 / u;
  const TwoPart most = {-high, -high * division_rest(1.0, u, high)};
  return product(kTwoPerPi,
                 sum(most, sum(product(bessel_log(x), product(0.5 * x, at.ratio)), rest)));
}

// Y1 below 2^-900 is divided by this power of two.
template <Function f>
PULLBACK_INLINE double near_scale(double x) {
  return f.v && f.second && x < 0x1p-900 ? 0x1p200 : 1.0;
}
// The value for 0 <= x <= 2, divided by near_scale.
template <Function f>
PULLBACK_INLINE TwoPart near_two(double x) {
  if constexpr (f.second) return f.v ? near_y1(x) : near_y0(x);
  const NearJ at = near_j(x);
  return f.v ? product(0.5 * x, at.ratio) : at.j0;
}
template <Function f>
PULLBACK_INLINE double bessel(double x) {
  const double size = magnitude(x), least = size < kLeastWave ? size : kLeastWave;
  const TwoPart far = wave_two<f>(size > kLeastWave ? size : kLeastWave), near = near_two<f>(least);
  const double y = (near.high + near.low) * near_scale<f>(least);
  return bessel_checked<f>(x, size < kLeastWave ? y : far.high + far.low);
}

// --- float, in double

template <Function f>
PULLBACK_INLINE double rough_wave(double x) {
  constexpr bool v = f.v != 0;
  const double t = (x - 6.0) / (x + 2.0), inverse = 1.0 / x;
  const double curve = v ? polynomial_of(kPhase1, t) : polynomial_of(kPhase0, t);
  const Quarter q = bessel_turns(x, {inverse * ((v ? 0.375 : -0.125) + curve), 0.0});
  const double more = v ? polynomial_of(kRoughModulus1, t) : polynomial_of(kRoughModulus0, t);
  const double size = __builtin_sqrt(kTwoPerPi.high * inverse * (1.0 + more));
  constexpr bool is_sine = v != f.second;
  const double y = is_sine == bool(q.n & 1) ? cos_rough(q.r) : sin_rough(q.r);
  return negative_if(size * y, ((q.n + !is_sine) >> 1) + (v & f.second));
}
PULLBACK_INLINE double rough_near_ratio(double x) {
  const double z = x * x;
  const double rest = mad(-z, polynomial_of(kNearJ1, z), kThird / 64.0);
  return mad(z * z, rest, mad(-0.125, z, 1.0));
}
template <int v>
PULLBACK_INLINE double rough_near_j(double x) {
  if constexpr (v) return 0.5 * x * rough_near_ratio(x);
  const double z = x * x;
  return mad(z * z, mad(-z, polynomial_of(kNearJ0, z), 0x1p-6), mad(-0.25, z, 1.0));
}
template <int v>
PULLBACK_INLINE double rough_near_y(double x) {
  const double z = x * x, log = log_sum(x, 0.0, 0.0) + kLogHalf.high;
  if constexpr (v) {
    const double rest = mad(z, mad(-z, polynomial_of(kNearY1, z), 0x1.4p-4), -0.25);
    return kTwoPerPi.high * (mad(x, rest, log * rough_near_j<1>(x)) - 1.0 / x);
  } else {
    const double rest = mad(z, mad(z, polynomial_of(kNearY0, z), -0x1.8p-6), 0.25);
    return kTwoPerPi.high * mad(z, rest, log * rough_near_j<0>(x));
  }
}
template <Function f>
PULLBACK_INLINE float bessel(float x) {
  const double size = magnitude(x), least = size < kLeastWave ? size : kLeastWave;
  const double far = rough_wave<f>(size > kLeastWave ? size : kLeastWave);
  const double near = f.second ? rough_near_y<f.v>(least) : rough_near_j<f.v>(least);
  return bessel_checked<f>(x, static_cast<float>(size < kLeastWave ? near : far));
}

// The values for |x| <= kTrigLimit, infinities and NaN.
template <class F>
PULLBACK_INLINE F j0(F x) {
  return bessel<kJ0>(x);
}
template <class F>
PULLBACK_INLINE F j1(F x) {
  return bessel<kJ1>(x);
}
template <class F>
PULLBACK_INLINE F y0(F x) {
  return bessel<kY0>(x);
}
template <class F>
PULLBACK_INLINE F y1(F x) {
  return bessel<kY1>(x);
}
// For other x.
template <Function f, class F>
PULLBACK_INLINE F far_bessel(F x) {
  const special::Wave y = special::far_wave(f.v, f.second, static_cast<double>(magnitude(x)));
  return bessel_checked<f>(x, static_cast<F>(y.high + y.low));
}

}  // namespace m
}  // namespace
}  // namespace pullback
