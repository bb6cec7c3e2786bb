// The factor x^a exp(-x) / gamma(a + 1) of the incomplete gamma functions, in two doubles, since
// its exponent cancels. Start at front().
#pragma once

#include <cstddef>

#include "backend/cpu/kernels/vec_error.h"
#include "backend/cpu/kernels/vec_gamma_terms.h"
#include "backend/cpu/kernels/vec_pow.h"
#include "backend/cpu/special/gamma_tables.h"

namespace pullback::special {
namespace {

using m::is_small;
using m::less_log1p;
using m::log_of;
using m::ScaledTwo;
using m::TwoPart;

constexpr double kStirlingFrom = 12;   // Stirling's series has all digits from here on
constexpr double kOutOfRange = -1000;  // exp() of it times any other factor is 0
constexpr double kEndless = 0x1p200;   // at larger arguments P is 0, 1/2 or 1

TwoPart sum_of(TwoPart a, TwoPart b) {
  const TwoPart high = m::two_sum(a.high, b.high);
  return m::quick_sum(high.high, high.low + (a.low + b.low));
}
TwoPart minus(TwoPart a) { return {-a.high, -a.low}; }

// c[first] + c[first + 1] x + ... up to c[end - 1]. Even and odd powers are separate chains, which
// run in parallel.
template <int end, int first = 0, size_t n>
double series(const long double (&c)[n], double x) {
  static_assert(first + 1 < end && end <= static_cast<int>(n));
  const double square = x * x;
  double sum = static_cast<double>(c[end - 1]), other = static_cast<double>(c[end - 2]);
#pragma GCC unroll 32
  for (int k = end - 3; k >= first; k -= 2) sum = sum * square + static_cast<double>(c[k]);
#pragma GCC unroll 32
  for (int k = end - 4; k >= first; k -= 2) other = other * square + static_cast<double>(c[k]);
  return (end - first) % 2 ? other * x + sum : sum * x + other;
}

// a (x / a - 1 - log(x / a)) for a and x below kEndless.
TwoPart deviation(double a, double x) {
  const TwoPart gap = m::two_sum(x, -a), ratio = m::quotient(gap, {a, 0.0});
  if (is_small(ratio.high)) return m::product(a, less_log1p(ratio));
  const TwoPart log = log_of(m::quotient({x, 0.0}, {a, 0.0}));
  return sum_of(gap, minus(m::product(a, log)));
}

// log(gamma(2 + w)) for |w| <= 1/2
TwoPart log_gamma_near(double w) {
  constexpr TwoPart slope = {0x1.b0ee6072093cep-2, 0x1.6cb90701fbfabp-58};  // 1 - Euler's constant
  // The coefficient of w is split; the rest of the series is at most a fifth of it.
  const double curve = w * series<23, 1>(kLogGamma, w);
  return m::product(w, m::quick_sum(slope.high, slope.low + curve));
}

// front() for a < kStirlingFrom: exp((a - removed) log(x) - x - log(gamma(2 + w))) divided by the
// factors that lead from gamma(2 + w) to gamma(1 + a).
template <int removed>
ScaledTwo front_near(double a, double x) {
  TwoPart factors = {1.0, 0.0};
  double z = a;
  while (z > 1.5) {
    factors = m::product(z, factors);
    z -= 1.0;
  }
  const bool low = a < 0.5;
  const TwoPart power = sum_of(m::product(m::two_sum(a, -removed), m::log_two(x)), {-x, 0.0});
  const TwoPart all = sum_of(power, minus(log_gamma_near(low ? a : z - 1.0)));
  if (!(all.high > kOutOfRange)) return {{0.0, 0.0}, 0};
  const m::ExpParts parts = m::exp_parts(all.high, all.low);
  const TwoPart top = m::one_plus(parts);
  return {low ? m::product(top, m::two_sum(1.0, a)) : m::quotient(top, factors), parts.shifted};
}

// x^(a - removed) exp(-x) / gamma(a + 1) for a and x below kEndless
template <int removed>
ScaledTwo front(double a, double x) {
  if (a < kStirlingFrom) return front_near<removed>(a, x);
  const double r = 1.0 / a;
  const TwoPart rest = {-r * series<9>(kStirling, r * r), 0.0};
  const TwoPart power = sum_of(minus(deviation(a, x)), rest);
  if (!(power.high > kOutOfRange)) return {{0.0, 0.0}, 0};
  const ScaledTwo top = m::exp_times(m::kPerRootTwoPi, power);
  TwoPart y = m::quotient(top.y, m::square_root({a, 0.0}));
  for (int k = 0; k < removed; ++k) y = m::quotient(y, {x, 0.0});
  return {y, top.shifted};
}

}  // namespace
}  // namespace pullback::special
