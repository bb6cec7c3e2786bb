// Terms of incomplete gamma and beta functions, branch-free, in a number type N that is TwoPart for
// float64 and double for float32: log(gamma) and digamma less their leading terms, trigamma, and
// x - log(1 + x).
#pragma once

#include "backend/cpu/kernels/vec_dual.h"
#include "backend/cpu/kernels/vec_error.h"
#include "backend/cpu/kernels/vec_gamma.h"

namespace pullback {
namespace {
namespace m {

constexpr TwoPart kTwoPi = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};

PULLBACK_INLINE TwoPart log_of(TwoPart x) {
  const TwoPart log = log_two(x.high);
  return {log.high, log.low + x.low / x.high};
}
PULLBACK_INLINE double log_of(double x) { return log_sum(x, 0.0, 0.0); }

// V(z) of x - log(1 + x) = x s - s z (2/3 + z V(z)) for -0.28 < x < 0.4, where s = x / (2 + x) and
// z = s^2. The coefficients are those of log_two().
PULLBACK_INLINE double log_rest(double z) {
  return polynomial(z, 0x1.9999999999996p-2, 0x1.2492492492f52p-2, 0x1.c71c71c5965ddp-3,
                    0x1.745d182974a46p-3, 0x1.3b1364c01232cp-3, 0x1.112070b25685p-3,
                    0x1.de3d2eebfdc2cp-4, 0x1.eac7fbc3989ddp-4);
}
PULLBACK_INLINE bool is_small(double x) { return (x > -0.28) & (x < 0.4); }
template <class N>
PULLBACK_INLINE N less_log1p(N x) {
  const N s = x / (x + 2.0), z = s * s;
  constexpr TwoPart two_thirds = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
  return x * s - s * (z * (number<N>(two_thirds) + log_rest(leading(z)) * z));
}

// r - 1 - log(r) and log(r) for r = 1 + rise, where x is r times its mean.
template <class N>
struct Relative {
  N excess, log;
};
template <class N>
PULLBACK_INLINE Relative<N> relative(N rise, N x, N per_mean) {
  const bool small = is_small(leading(rise));
  const N bend = less_log1p(either(small, rise, number<N>(0.0)));
  const N log = either(small, rise - bend, log_of(x * per_mean));
  return {either(small, bend, rise - log), log};
}
// y exp(power), and 1 less it if `is_rest`
constexpr double kLeastPower = -1000.0;  // exp() of it times any other factor is 0
PULLBACK_INLINE ScaledTwo scaled_exp(TwoPart y, TwoPart power) {
  return exp_times(y, either(power.high > kLeastPower, power, {kLeastPower, 0.0}));
}
PULLBACK_INLINE double times_exp(TwoPart y, TwoPart power) { return rounded(scaled_exp(y, power)); }
PULLBACK_INLINE double times_exp(double y, double power) { return y * exp(power); }
PULLBACK_INLINE double share_of(TwoPart y, TwoPart power, bool is_rest) {
  const ScaledTwo part = scaled_exp(y, power);
  return is_rest ? complement(1.0, part) : rounded(part);
}
PULLBACK_INLINE double share_of(double y, double power, bool is_rest) {
  const double part = times_exp(y, power);
  return is_rest ? 1.0 - part : part;
}

// 1 less an integral cancels too much below.
template <class N>
constexpr double kLeastPart = kIsWide<N> ? 0x1p-5 : 0x1p-20;

// y exp(power) as a number
PULLBACK_INLINE TwoPart part_of(TwoPart y, TwoPart power) {
  const ScaledTwo part = scaled_exp(y, power);
  return {scaled(part.y.high, part.shifted), scaled(part.y.low, part.shifted)};
}
PULLBACK_INLINE double part_of(double y, double power) { return times_exp(y, power); }
// exp(t^2) erfc(t) / 2
PULLBACK_INLINE TwoPart tail_share(double t, TwoPart) {
  const Tail at = tail({t, 0.0});
  return kHalfPerRootPi * at.top / at.bottom;
}
PULLBACK_INLINE double tail_share(double t, double) {
  const RoughTail at = rough_tail(t);
  return kHalfPerRootPi.high * at.top / at.bottom;
}

// Below kStirlingFrom the functions below add kShift to z; the terms of that are exact or
// logarithms of quotients.
constexpr double kStirlingFrom = 10.0;
constexpr int kShift = 10;

// log(gamma(z)) - ((z - 1/2) log(z) - z + log(2 pi) / 2)
template <class N>
PULLBACK_INLINE N stirling_rest(N z) {
  const bool far = leading(z) >= kStirlingFrom;
  const N one = number<N>(1.0), least = either(far, one, z), u = either(far, z, least + kShift);
  const N r = one / u;
  constexpr TwoPart twelfth = {0x1.5555555555555p-4, 0x1.5555555555555p-58};
  const double square = leading(r) * leading(r);
  const N rest =
      r * (number<N>(twelfth) + number<N>(square * series<12, 1>(special::kStirling, square)));
  // (u / z) (u / (z + 1)) ..., a power of u over a product
  N product = least, power = u * u;
#pragma GCC unroll 16
  for (int k = 1; k < kShift; ++k) product = product * (least + k);
  power = power * power * u;
  const N bend = log_of(power * power / product), slope = (least + -0.5) * log_of(u / least);
  return either(far, rest, slope + (bend + -kShift) + rest);
}

// log(z) - digamma(z), or if `next` log(z) - digamma(z + 1)
template <class N>
PULLBACK_INLINE N log_less_digamma(N z, bool next = false) {
  const bool far = leading(z) >= kStirlingFrom;
  const N one = number<N>(1.0), least = either(far, one, z), u = either(far, z, least + kShift);
  const N r = one / u;
  constexpr TwoPart twelfth = {0x1.5555555555555p-4, 0x1.5555555555555p-58};
  const double square = leading(r) * leading(r);
  const N bend =
      number<N>(twelfth) + number<N>(square * series<12, 1>(special::kDigammaFar, square));
  const N rest = r * (r * bend + 0.5);
  N sum = number<N>(0.0);
#pragma GCC unroll 16
  for (int k = next; k < kShift; ++k) sum = sum + one / (least + k);
  return either(far, next ? rest - r : rest, rest + (sum - log_of(u / least)));
}

// trigamma(z), or trigamma(z + 1) if `next`
template <class N>
PULLBACK_INLINE N trigamma_of(N z, bool next = false) {
  const bool far = leading(z) >= kStirlingFrom;
  const N one = number<N>(1.0), least = either(far, one, z), u = either(far, z, least + kShift);
  const N r = one / u, cross = r * r;
  constexpr TwoPart sixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
  const double square = leading(r) * leading(r);
  const N bend =
      number<N>(sixth) + number<N>(square * series<12, 1>(special::kTrigammaFar, square));
  const N rest = r + cross * (r * bend + 0.5);
  N sum = number<N>(0.0);
#pragma GCC unroll 16
  for (int k = next; k < kShift; ++k) {
    const N inverse = one / (least + k);
    sum = sum + inverse * inverse;
  }
  return either(far, next ? rest - cross : rest, rest + sum);
}

}  // namespace m
}  // namespace
}  // namespace pullback
