// The zeta functions of Hurwitz and Riemann and their first derivatives, for blocks of elements:
// Euler-Maclaurin summation as in special/zeta.cpp, with terms and sums in two parts. Every element
// of a block stops at its own number of terms, so neighbours never change it. float computes in
// double.
#pragma once

#include "backend/cpu/kernels/vec_factorial.h"

namespace pullback {
namespace {
namespace m {

enum class Zeta { Value, ByExponent, ByOffset };

// u^-s from log(u).
PULLBACK_INLINE TwoPart power_of(TwoPart log, TwoPart s) {
  const TwoPart exponent = product(s, log);
  const bool inside = magnitude(exponent.high) < 900.0;
  const ExpParts e =
      exp_parts(clamped(-exponent.high, -900.0, 900.0), inside ? -exponent.low : 0.0);
  const TwoPart y = one_plus(e);
  // exp(-900) is 0 and exp(900) infinite.
  return {scaled(y.high, e.shifted), scaled(y.low, e.shifted)};
}
// The rest of the sum from u on, divided by u^-s.
PULLBACK_INLINE TwoPart zeta_tail(TwoPart u, double s, TwoPart less_one, TwoPart log, bool slope) {
  constexpr int kTerms = 16;
  const double r = 1.0 / u.high, square = r * r;
  double sum = static_cast<double>(special::kEulerMaclaurin[kTerms - 1]), by_s = 0.0;
#pragma GCC unroll 16
  for (int k = kTerms - 2; k >= 0; --k) {
    const double first = s + (2 * k + 1), second = first + 1.0;
    const double factor = first * second * square;
    by_s = mad(factor, by_s, (first + second) * square * sum);
    sum = mad(factor, sum, static_cast<double>(special::kEulerMaclaurin[k]));
  }
  by_s = r * mad(s, by_s, sum);
  const TwoPart whole = quotient(u, less_one);
  TwoPart y = two_sum(whole.high, 0.5);
  y.low += whole.low + s * r * sum;
  if (!slope) return y;
  const TwoPart steep = quotient(whole, {-less_one.high, -less_one.low});
  return plus(product({-log.high, -log.low}, y), {steep.high, steep.low + by_s});
}

constexpr int kZetaBlock = 16;
constexpr double kZetaReflected = -0.125;  // below, the terms of the sum cancel

// `least` is the end of the domain of s; Riemann's function, for q = 1, is also defined below it.
template <class F>
PULLBACK_INLINE bool is_zeta_block(F s, F q, F least) {
  constexpr F near = F(0x1p-60), far = F(0x1p60);
  const bool riemann = (q == F(1)) & (s > F(kZetaReflected)) & (s != F(1));
  return ((s > least) | riemann) & (s < F(0x1p20)) & (q > near) & (q < far);
}
// The logarithms of u = q + k; one if all q are equal.
struct ZetaLogs {
  double high[kZetaBlock], low[kZetaBlock];
};
PULLBACK_INLINE void zeta_logs(ZetaLogs& logs, const double* q, const double* k, bool equal) {
  for (int i = 0; i < (equal ? 1 : kZetaBlock); ++i) {
    const TwoPart u = two_sum(q[i], k[i]), log = log_two(u.high);
    logs.high[i] = log.high;
    logs.low[i] = log.low + u.low / u.high;
  }
  if (!equal) return;
  for (int i = 1; i < kZetaBlock; ++i) logs.high[i] = logs.high[0], logs.low[i] = logs.low[0];
}

template <Zeta which>
[[gnu::noinline]] void zeta_block(double* y, const double* s0, const double* q) {
  constexpr bool slope = which == Zeta::ByExponent, shifted = which == Zeta::ByOffset;
  constexpr double kLost = slope ? 0x1p-66 : 0x1p-58;
  double high[kZetaBlock], low[kZetaBlock], lost[kZetaBlock];
  double count[kZetaBlock], at[kZetaBlock], most = 0.0, different = 0.0;
  ZetaLogs logs;
  for (int i = 0; i < kZetaBlock; ++i) {
    // With so many terms, those of the tail fall below the last digit.
    const double missing = 7.0 + 0.6 * (s0[i] + (shifted ? 1.0 : 0.0)) - q[i];
    high[i] = low[i] = lost[i] = 0.0;
    count[i] = missing > 0.0 ? (missing + 0x1p52) - 0x1p52 + 1.0 : 0.0;
  }
  for (int i = 0; i < kZetaBlock; ++i) {
    most = count[i] > most ? count[i] : most;
    different = q[i] == q[0] ? different : 1.0;
  }
  for (int n = 0; n < most; ++n) {
    const double k = n;
    for (int i = 0; i < kZetaBlock; ++i) at[i] = k;
    zeta_logs(logs, q, at, different == 0.0);
    for (int i = 0; i < kZetaBlock; ++i) {
      const bool live = k < count[i];
      const TwoPart s = two_sum(s0[i], shifted ? 1.0 : 0.0);
      const TwoPart power = power_of({logs.high[i], logs.low[i]}, s);
      TwoPart term = power;
      if (slope) term = product(term, {-logs.high[i], -logs.low[i]});
      const TwoPart sum = two_sum(high[i], term.high);
      const double rest = low[i] + (sum.low + term.low);
      // Later terms do not matter, nor does the tail.
      const bool last = power.high * (q[i] + k) <= kLost * magnitude(sum.high);
      const bool ends = s.high > 2.0 ? last : false;
      high[i] = live ? sum.high : high[i];
      low[i] = live ? rest : low[i];
      lost[i] = live ? (ends ? 1.0 : 0.0) : lost[i];
      count[i] = live ? (ends ? k + 1.0 : count[i]) : count[i];
    }
    most = 0.0;
    for (int i = 0; i < kZetaBlock; ++i) most = count[i] > most ? count[i] : most;
  }
  zeta_logs(logs, q, count, false);
  for (int i = 0; i < kZetaBlock; ++i) {
    const TwoPart s = two_sum(s0[i], shifted ? 1.0 : 0.0), u = two_sum(q[i], count[i]);
    const TwoPart log = {logs.high[i], logs.low[i]};
    const TwoPart tail = zeta_tail(u, s.high, two_sum(s0[i], shifted ? 0.0 : -1.0), log, slope);
    const TwoPart rest = product(power_of(log, s), tail);
    const bool drop = lost[i] > 0.0;
    TwoPart sum = plus({high[i], low[i]}, {drop ? 0.0 : rest.high, drop ? 0.0 : rest.low});
    if (shifted) sum = product(sum, {-s0[i], 0.0});
    y[i] = sum.high + sum.low;
  }
}

// The rows of kZetaRest as columns, so that a coefficient of all elements is one gather.
constexpr int kZetaSegments = sizeof(special::kZetaMiddle) / sizeof(special::kZetaMiddle[0]);
constexpr int kZetaTerms = sizeof(special::kZetaRest[0]) / sizeof(special::kZetaRest[0][0]) - 1;
struct ZetaRest {
  double middle[kZetaSegments], low[kZetaSegments], c[kZetaTerms][kZetaSegments];
};
constexpr ZetaRest kZetaColumns = [] {
  ZetaRest rest{};
  for (int j = 0; j < kZetaSegments; ++j) {
    const auto& row = special::kZetaRest[j];
    rest.middle[j] = static_cast<double>(special::kZetaMiddle[j]);
    rest.low[j] = static_cast<double>(row[1]);
    rest.c[0][j] = static_cast<double>(row[0]);
    for (int k = 1; k < kZetaTerms; ++k) rest.c[k][j] = static_cast<double>(row[k + 1]);
  }
  return rest;
}();
// Riemann's function for kZetaReflected <= s < 1 and s > 1: its pole and the rest, which is entire.
PULLBACK_INLINE TwoPart riemann_zeta(double s) {
  constexpr auto& table = kZetaColumns;
  constexpr double kEnd = static_cast<double>(special::kZetaEnds[kZetaSegments]);
  const double at = s < kEnd ? s : kEnd;
  int64_t j = 0;
#pragma GCC unroll 8
  for (int k = 1; k < kZetaSegments; ++k)
    j += at > static_cast<double>(special::kZetaEnds[k]) ? 1 : 0;
  const TwoPart w = two_sum(at, -table.middle[j]);
  double sum = table.c[kZetaTerms - 1][j];
#pragma GCC unroll 16
  for (int k = kZetaTerms - 2; k > 0; --k) sum = mad(sum, w.high, table.c[k][j]);
  const TwoPart pole = quotient({1.0, 0.0}, two_sum(at, -1.0));
  const TwoPart y = two_sum(pole.high, table.c[0][j]);
  const double rest = w.high * sum + table.c[1][j] * w.low;
  return quick_sum(y.high, y.low + (pole.low + (table.low[j] + rest)));
}

// Riemann's function below kZetaReflected by the functional equation:
// 2 (2 pi)^(s - 1) sin(pi s / 2) gamma(1 - s) times the function of 1 - s.
template <class F>
PULLBACK_INLINE bool is_zeta_reflected(F s, F q) {
  return (q == F(1)) & (s <= F(kZetaReflected)) & (s > F(1.0 - kLargestGamma));
}
PULLBACK_INLINE double reflected_zeta(double s, TwoPart of_other) {
  const TwoPart other = two_sum(1.0, -s);
  constexpr TwoPart log_two_pi = {0x1.d67f1c864beb5p+0, -0x1.65b5a1b7ff5dfp-54};
  const TwoPart exponent = product(other, log_two_pi);
  const ExpParts power = exp_parts(-exponent.high, -exponent.low);
  const GammaParts gamma = gamma_parts(other.high);
  const TwoPart grown = product(product(2.0, of_other), product(one_plus(power), gamma.top));
  const TwoPart y = quotient(product(grown, waves_of(0.5 * s).sine), gamma.bottom);
  // The function changes fast next to its pole.
  const double rest = other.high < 2.5 ? 0.5772156649 - 1.0 / (other.high - 1.0) : 0.0;
  const double change = other.low * (rough_digamma(other.high) + rest);
  return scaled(y.high + (y.low + y.high * change), power.shifted + gamma.n);
}

// The kernels compute these by blocks (elementwise_pairs.h).
template <class F>
F zeta(F s, F q);
template <class F>
F zeta_ds(F s, F q);
template <class F>
F zeta_dq(F s, F q);

}  // namespace m
}  // namespace
}  // namespace pullback
