// Modified Bessel functions of any real order. Start at modified_block: blocks of arguments of one
// order v >= 0, or above kLeastV if it is not an integer, sum the power series below series_end,
// and Hankel's expansion beyond if its terms decrease from the start, v^2 <= 2 x (DLMF 10.25.2 and
// 10.40.1). Both are nested products 1 + q c_1 (1 + q c_2 (1 + …)) whose c_k depend on the order
// only. All other arguments are computed by special::ive, one by one.
//
// All in two parts; float is computed in double.
#pragma once

#include "backend/cpu/kernels/vec_bessel_n.h"
#include "backend/cpu/kernels/vec_pow.h"
#include "backend/cpu/special/bessel.h"
#include "backend/cpu/special/gamma.h"

namespace pullback {
namespace {
namespace m {

constexpr double kLeastEnd = 25.0, kMostEnd = 200.0;
constexpr int kMostTerms = 220;
constexpr double kLeastV = -20.0;
constexpr double kMostV = 100.0;  // 1 / gamma(v + 1) is far from the least number up to here
constexpr TwoPart kPerTwoPi = {0.25 * kTwoPerPi.high, 0.25 * kTwoPerPi.low};

// The c_k, until a term is below 2^-62 of the sum at every argument.
struct NestedSum {
  TwoPart c[kMostTerms];
  int terms = 0;
};

PULLBACK_INLINE double series_end(double v) { return clamped(0.5 * v * v, kLeastEnd, kMostEnd); }

// I_v = (x / 2)^v / gamma(v + 1) times the sum, in q = x^2 / 4.
inline void set_series(NestedSum& s, TwoPart v, double end) {
  double term = 1.0, total = 1.0;
  for (int k = 1; k <= kMostTerms && term > 0x1p-62 * total; ++k) {
    TwoPart next = two_sum(v.high, k);
    next.low += v.low;
    s.c[s.terms++] = quotient({1.0, 0.0}, product(k, next));
    term *= 0.25 * end * end / (k * magnitude(next.high));
    total += term;
  }
}
// exp(-x) I_v = (2 pi x)^(-1/2) times the sum, in q = 1 / x; or its derivative divided by -1 / 2 x.
inline void set_expansion(NestedSum& s, double v, bool slope) {
  const TwoPart square = two_product(2.0 * v, 2.0 * v);
  const double least = square.high > 8.0 * kLeastEnd ? 0.125 * square.high : kLeastEnd;
  double term = 1.0;
  for (int k = 1; k <= kMostTerms && magnitude(term) > 0x1p-62; ++k) {
    const double odd = 2 * k - 1;
    TwoPart c = sum({odd * odd, 0.0}, {-square.high, -square.low});
    c = quotient(c, {8.0 * k, 0.0});
    if (slope) c = quotient(product(odd + 2.0, c), {odd, 0.0});
    s.c[s.terms++] = c;
    term *= c.high / least;
  }
}

template <int lanes>
PULLBACK_INLINE void add_up(Lanes<lanes>& y, const NestedSum& s, const Lanes<lanes>& q) {
  for (int i = 0; i < lanes; ++i) y.set(i, {1.0, 0.0});
  for (int k = s.terms - 1; k >= 0; --k) {
#pragma GCC ivdep
    for (int i = 0; i < lanes; ++i) {
      y.set(i, sum({1.0, 0.0}, product(product(q.at(i), s.c[k]), y.at(i))));
    }
  }
}

// The order of a block, and the sums that its arguments need.
struct ModifiedOrder {
  double v, end;
  bool is_scaled;
  TwoPart factor = {};  // 1 / gamma(v + 1)
  NestedSum series, above, expansion;
};

// I_v, exp(-x) I_v or the derivative of that, for arguments of is_in_block.
template <bool slope, int lanes>
[[gnu::noinline]] void modified_block(double* y, const double* x, const ModifiedOrder& order) {
  Lanes<lanes> q, inverse, near, above, far;
  const double v = order.v, end = order.end;
  const TwoPart factor = order.factor;
  const bool is_scaled = order.is_scaled;
#pragma GCC ivdep
  for (int i = 0; i < lanes; ++i) {
    const double half = x[i] < end ? 0.5 * x[i] : 0.0;
    const double most = x[i] < end ? end : x[i], high = 1.0 / most;
    q.set(i, two_product(half, half));
    inverse.set(i, {high, high * division_rest(1.0, most, high)});
  }
  add_up(near, order.series, q);
  if constexpr (slope) add_up(above, order.above, q);
  add_up(far, order.expansion, inverse);
#pragma GCC ivdep
  for (int i = 0; i < lanes; ++i) {
    const bool is_far = !(x[i] < end);
    const double least = is_far ? end : x[i], half = 0.5 * least;
    TwoPart first = near.at(i);
    if constexpr (slope) {
      // x/2 (I_{v+1} + (v/x - 1) I_v)
      const TwoPart next = quotient(product(q.at(i), above.at(i)), two_sum(v, 1.0));
      first = sum(next, product(two_sum(0.5 * v, -half), first));
    }
    first = product(factor, first);
    const TwoPart growth = product(two_sum(v, slope ? -1.0 : 0.0), log_two(half));
    TwoPart second = product(far.at(i), square_root(product(kPerTwoPi, inverse.at(i))));
    if constexpr (slope) second = product(product(-0.5, second), inverse.at(i));
    // The expansion contains exp(-x).
    const double linear = is_scaled ? (is_far ? 0.0 : -least) : (is_far ? x[i] : 0.0);
    const TwoPart e = sum({is_far ? 0.0 : growth.high, is_far ? 0.0 : growth.low}, {linear, 0.0});
    TwoPart value = {is_far ? second.high : first.high, is_far ? second.low : first.low};
    // Beyond these exponents the result is 0 or infinite, whatever its other factor.
    const bool in_range = magnitude(e.high) <= 800.0, above_range = e.high > 800.0;
    value = {above_range ? 1.0 : value.high, above_range ? 0.0 : value.low};
    y[i] = rounded(exp_times(value, {clamped(e.high, -800.0, 800.0), in_range ? e.low : 0.0}));
  }
}

PULLBACK_INLINE bool is_in_block(double v, double x, bool whole) {
  const double size = magnitude(x);
  return (whole ? v >= 0.0 : v > kLeastV) & (v <= kMostV) & (size > 0x1p-900) & (size < 0x1p500) &
         (whole | (x > 0.0)) & ((size < series_end(v)) | (v * v <= 2.0 * size));
}

template <bool slope, int lanes>
[[gnu::noinline]] void modified_run(double* y, const double* arguments, double v, bool is_scaled,
                                    int64_t n) {
  constexpr int times = slope;
  const bool whole = v == __builtin_rint(v);
  const bool odd = whole && 0.5 * v != __builtin_rint(0.5 * v);
  const double end = series_end(v);
  bool any_near = false, any_far = false;
  for (int64_t i = 0; i < n; ++i) {
    const bool inside = is_in_block(v, arguments[i], whole);
    const bool near = magnitude(arguments[i]) < end;
    any_near |= inside && near;
    any_far |= inside && !near;
  }
  ModifiedOrder order;
  order.v = v;
  order.end = end;
  order.is_scaled = is_scaled;
  if (any_near) {
    const TwoPart next = two_sum(v, 1.0);
    order.factor.high = special::rgamma(next.high);
    order.factor.low = -order.factor.high * special::digamma(next.high) * next.low;
    set_series(order.series, {v, 0.0}, end);
    if (times) set_series(order.above, next, end);
  }
  if (any_far) set_expansion(order.expansion, v, times);
  for (int64_t start = 0; start < n; start += lanes) {
    const int count = n - start < lanes ? static_cast<int>(n - start) : lanes;
    double x[lanes], value[lanes];
    for (int i = 0; i < lanes; ++i) {
      const double at = i < count ? arguments[start + i] : 1.0;
      x[i] = is_in_block(v, at, whole) ? magnitude(at) : 1.0;
    }
    modified_block<slope, lanes>(value, x, order);
    for (int i = 0; i < count; ++i) {
      const double at = arguments[start + i];
      if (is_in_block(v, at, whole)) {
        y[start + i] = odd != times && at < 0.0 ? -value[i] : value[i];
      } else {
        y[start + i] = is_scaled ? special::ive(v, at, times) : special::iv(v, at);
      }
    }
  }
}

// OrderFunctions: of exp(-|x|) I_v, and of I_v without derivatives.
template <bool is_scaled>
void modified_runs(double* y, const double* order, const double* x, const double* times,
                   int64_t n) {
  constexpr int lanes = 32, few = 3;
  for (int64_t i = 0; i < n;) {
    int64_t count = 1;
    while (i + count < n && order[i + count] == order[i] && times[i + count] == times[i]) ++count;
    if (times[i] == 0.0 || times[i] == 1.0) {
      const bool slope = times[i] == 1.0;
      const auto many = slope ? modified_run<true, lanes> : modified_run<false, lanes>;
      const auto single = slope ? modified_run<true, 1> : modified_run<false, 1>;
      if (count > few) {
        many(y + i, x + i, order[i], is_scaled, count);
      } else {
        for (int64_t k = i; k < i + count; ++k) single(y + k, x + k, order[k], is_scaled, 1);
      }
    } else {
      for (int64_t k = i; k < i + count; ++k) y[k] = special::ive(order[k], x[k], times[k]);
    }
    i += count;
  }
}
// One element.
template <class F>
PULLBACK_INLINE F iv(F order, F x) {
  F y;
  by_order<F>(modified_runs<false>, &y, &order, &x, nullptr, 1);
  return y;
}
template <class F>
PULLBACK_INLINE F ive(F order, F x, F times) {
  F y;
  by_order(modified_runs<true>, &y, &order, &x, &times, 1);
  return y;
}

}  // namespace m
}  // namespace
}  // namespace pullback
