// The values of the regularized incomplete gamma functions P and Q = 1 - P, in double arithmetic.
//
// A series, a continued fraction or Temme's uniform expansion multiplies the factor of
// gammainc_front.h. The smaller one of P and Q is computed and the other one is its complement, so
// that neither cancels. Derivatives by x are in gammainc_density.cpp, by a in gammainc.cpp. Start
// at incomplete(). Compiled once for each instruction set: a fused multiply-add halves the time of
// the factor.
#pragma once

#include <optional>

#include "backend/cpu/kernels/gammainc_front.h"

namespace pullback::special {
namespace {

constexpr double kUniformFrom = 200;    // the uniform expansion has all digits from here on,
constexpr double kUniformMost = 0.125;  // for deviations up to this one

// The sums stop at terms below kLast<F> times the sum.
template <class F>
constexpr double kLast = sizeof(F) == 4 ? 0x1p-34 : 0x1p-58;

// P = front times this series of x^k / ((a + 1) ... (a + k)). The divisors are exact for the
// leading bits of a; the other ones, `rest`, enter the sum in first order.
template <class F>
TwoPart power_series(double a, double x) {
  constexpr double kSmall = 0x1p-18;  // smaller terms need neither the correction nor a low part
  double d = (a + 0x1p12) - 0x1p12;   // multiples of 2^-40
  const double rest = a - d;
  double term = 1.0, ratios = 0.0, slope = 0.0;
  TwoPart sum = {1.0, 0.0};
  do {
    d += 1.0;
    const double ratio = x / d;
    term *= ratio;
    ratios += ratio;
    slope += term * ratios;
    const double next = sum.high + term;
    sum.low += term - (next - sum.high);
    sum.high = next;
  } while (term > kSmall * sum.high);
  double tail = 0.0;
  while (term > kLast<F> * sum.high) {  // two terms per division
    const double share = x / ((d + 1.0) * (d + 2.0));
    const double both = share * (d + 2.0) + share * x;
    tail += term * both;
    term *= share * x;
    d += 2.0;
  }
  return m::quick_sum(sum.high, sum.low + (tail - rest * (slope / x)));
}

// Q = front times a times this continued fraction, 1 / (b + 1 (a - 1) / (b + 2 + 2 (a - 2) / (b + 4
// + ...))) with b = x + 1 - a, for x > a and x >= 1: the sum of the differences of its convergents,
// from their denominators alone. Two steps of the recurrence at once halve its latency.
template <class F>
TwoPart fraction(double a, double x) {
  const TwoPart first = sum_of(m::two_sum(x, -a), {1.0, 0.0});
  double b = first.high, before = 1.0, last = b, k = 0.0, term = 1.0;
  TwoPart sum = {1.0, 0.0};
  do {
    const double c1 = (k + 1.0) * (a - (k + 1.0)), c2 = (k + 2.0) * (a - (k + 2.0));
    const double top1 = c1 * before, top2 = c2 * last;
    const double middle = (b + 2.0) * last + top1;
    last = ((b + 2.0) * (b + 4.0) + c2) * last + ((b + 4.0) * c1) * before;
    before = middle;
    b += 4.0;
    k += 2.0;
    const double one = term * (-top1 / middle);
    term = one * (-top2 / last);
    const double both = one + term, next = sum.high + both;
    sum.low += (both - (next - sum.high)) + ((one - both) + term);
    sum.high = next;
    if (last > 0x1p400) {
      last *= 0x1p-400;
      before *= 0x1p-400;
    }
  } while (m::magnitude(term) > kLast<F> * m::magnitude(sum.high));
  return m::quotient(sum, first);
}

// P for x < a, else Q, for x / a near 1 and large a (DLMF 8.12).
ScaledTwo uniform(double a, double x, TwoPart size) {
  const double phi = size.high / a, root = m::kRootTwo.high * __builtin_sqrt(phi);
  const double eta = x < a ? -root : root, r = 1.0 / a;
  double sum = series<3>(kTemme[6], eta);
  sum = sum * r + series<6>(kTemme[5], eta);
  sum = sum * r + series<10>(kTemme[4], eta);
  sum = sum * r + series<12>(kTemme[3], eta);
  sum = sum * r + series<15>(kTemme[2], eta);
  sum = sum * r + series<17>(kTemme[1], eta);
  sum = sum * r + series<20>(kTemme[0], eta);
  const double rest = m::kPerRootTwoPi.high * sum / __builtin_sqrt(a);
  const m::Tail at = m::tail(m::square_root(size));
  const TwoPart half = m::quotient(m::product(m::kHalfPerRootPi, at.top), at.bottom);
  return m::exp_times(sum_of(half, {x < a ? -rest : rest, 0.0}), minus(size));
}

// Q for a < 1 and x < 1, where 1 - P cancels: 1 - exp(e) - exp(e) a S with exp(e) = x^a / gamma(a +
// 1) and S the sum of (-x)^k / (k! (a + k)).
double upper_small(double a, double x) {
  TwoPart log_gamma = log_gamma_near(a < 0.5 ? a : a - 1.0);
  if (a < 0.5) log_gamma = sum_of(log_gamma, minus(log_of(m::two_sum(1.0, a))));
  const TwoPart e = sum_of(m::product(a, m::log_two(x)), minus(log_gamma));
  const m::ExpParts parts = m::exp_parts(e.high, e.low);
  const TwoPart one = m::one_plus(parts);
  const TwoPart power = {m::scaled(one.high, parts.shifted), m::scaled(one.low, parts.shifted)};
  const bool near = m::magnitude(e.high) < 0.34;  // no multiple of log(2) was split off
  const TwoPart rise = near ? m::quick_sum(parts.head, parts.tail) : sum_of(power, {-1.0, 0.0});
  double term = 0.5 * x * x, sum = 0.0;
  for (int k = 3; m::magnitude(term) > kLast<double> * x; ++k) {
    term *= -x / k;
    sum += term / (a + k);
  }
  const TwoPart first = m::quotient({-x, 0.0}, m::two_sum(1.0, a));
  const TwoPart second = m::quotient(m::two_product(0.5 * x, x), m::two_sum(2.0, a));
  const TwoPart both = m::product(a, sum_of(sum_of(first, second), {sum, 0.0}));
  const TwoPart y = sum_of(rise, m::product(power, both));
  return -(y.high + y.low);
}

// The value at a bound of the domain and outside of it.
std::optional<double> bound(double a, double x, bool lower) {
  constexpr double infinity = m::kInfinity<double>;
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity))
    return m::kNaN<double>;
  if (a == 0 || x == infinity) return lower ? 1.0 : 0.0;
  if (x == 0 || a == infinity) return lower ? 0.0 : 1.0;
  if (a > kEndless || x > kEndless) return x == a ? 0.5 : ((x > a) == lower ? 1.0 : 0.0);
  return std::nullopt;
}

double incomplete(double a, double x, bool lower) {
  if (const std::optional<double> y = bound(a, x, lower)) return *y;
  if (!lower && x < 1 && a < 1) return upper_small(a, x);
  ScaledTwo part;
  bool is_lower = x < a;
  const TwoPart size = a >= kUniformFrom ? deviation(a, x) : TwoPart{};
  if (a >= kUniformFrom && size.high <= kUniformMost * a) {
    if (!(size.high < -kOutOfRange)) return is_lower == lower ? 0.0 : 1.0;
    part = uniform(a, x, size);
  } else {
    // Near x = a the terms of the fraction cancel.
    is_lower = x < 1 || x <= a + 0.3 * __builtin_sqrt(a);
    part = front<0>(a, x);
    if (part.y.high == 0) return is_lower == lower ? 0.0 : 1.0;
    part.y = m::product(
        part.y, is_lower ? power_series<double>(a, x) : m::product(a, fraction<double>(a, x)));
  }
  return is_lower == lower ? m::rounded(part) : m::complement(1.0, part);
}

// --- float32, in double

double rough_deviation(double a, double x) {
  const double ratio = (x - a) / a;
  if (!is_small(ratio)) return (x - a) - a * m::log(x / a);
  const double s = ratio / (2.0 + ratio), z = s * s;
  return a * (ratio * s - s * z * (0x1.5555555555555p-1 + z * m::log_rest(z)));
}
double rough_front(double a, double x) {
  if (a >= kStirlingFrom) {
    const double r = 1.0 / a, power = -rough_deviation(a, x) - r * series<4>(kStirling, r * r);
    return m::kPerRootTwoPi.high * m::exp(power) / __builtin_sqrt(a);
  }
  const bool low = a < 0.5;
  double product = low ? 1.0 + a : 1.0, z = a;
  while (z > 1.5) {
    product *= z;
    z -= 1.0;
  }
  const double w = low ? a : z - 1.0;
  const double top = m::exp(a * m::log(x) - x - w * series<16>(kLogGamma, w));
  return low ? top * product : top / product;
}

double rough_uniform(double a, double x, double size) {
  const double root = m::kRootTwo.high * __builtin_sqrt(size / a);
  const double eta = x < a ? -root : root, r = 1.0 / a;
  double sum = series<6>(kTemme[3], eta);
  sum = sum * r + series<8>(kTemme[2], eta);
  sum = sum * r + series<10>(kTemme[1], eta);
  sum = sum * r + series<12>(kTemme[0], eta);
  const double rest = m::kPerRootTwoPi.high * sum / __builtin_sqrt(a);
  const m::RoughTail at = m::rough_tail(__builtin_sqrt(size));
  return m::exp(-size) * (m::kHalfPerRootPi.high * at.top / at.bottom + (x < a ? -rest : rest));
}

double rough_upper_small(double a, double x) {
  const double log_gamma = a < 0.5 ? a * series<16>(kLogGamma, a) - m::log1p(a)
                                   : (a - 1.0) * series<16>(kLogGamma, a - 1.0);
  const double rise = m::expm1(a * m::log(x) - log_gamma);
  double term = 1.0, sum = 0.0;
  for (int k = 1; m::magnitude(term) > kLast<float>; ++k) {
    term *= -x / k;
    sum += term / (a + k);
  }
  return -rise - (1.0 + rise) * a * sum;
}

double rough_incomplete(double a, double x, bool lower) {
  if (const std::optional<double> y = bound(a, x, lower)) return *y;
  if (!lower && x < 2 && a < 1) return rough_upper_small(a, x);
  double part;
  bool is_lower = x < a;
  const double size = a >= kUniformFrom ? rough_deviation(a, x) : 0.0;
  if (a >= kUniformFrom && size <= kUniformMost * a) {
    part = rough_uniform(a, x, size);
  } else {
    is_lower = x < 2 || x <= a;
    part = rough_front(a, x);
    if (part != 0) {
      part *= is_lower ? power_series<float>(a, x).high : a * fraction<float>(a, x).high;
    }
  }
  return is_lower == lower ? part : 1.0 - part;
}
float incomplete(float a, float x, bool lower) {
  return static_cast<float>(rough_incomplete(a, x, lower));
}

}  // namespace
}  // namespace pullback::special
