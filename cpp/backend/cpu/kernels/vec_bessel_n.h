// Bessel functions of the first and second kind of any integer order, and their derivatives. Start
// at whole_order, which computes the lanes of a block of arguments together, for one order.
//
// The recurrence from orders 0 and 1 upward is stable up to the order x for J, and for Y. Beyond x,
// J is continued by the ratios J_k / J_{k-1} = x / (2 k - x J_{k+1} / J_k), computed downward
// (DLMF 10.10.1). All in two parts; float is computed in double.
#pragma once

#include "backend/cpu/kernels/vec_bessel.h"

namespace pullback {
namespace {
namespace m {

constexpr double kMostOrder = 0x1p20;  // NaN for larger orders
constexpr double kYScale = 0x1p-200;   // of Y, so that what overflows is seen
constexpr double kLeastY = -0x1p900;   // below, in these units, Y is -infinity
constexpr double kJScale = 0x1p500;    // of J below x, since products of subnormal numbers with
                                       // ratios near 1 do not become smaller
constexpr double kLeastJ = 0x1p-600;   // below, in these units, J is 0

template <int lanes>
struct Lanes {
  double high[lanes], low[lanes];

  PULLBACK_INLINE TwoPart at(int i) const { return {high[i], low[i]}; }
  PULLBACK_INLINE void set(int i, TwoPart y) {
    high[i] = y.high;
    low[i] = y.low;
  }
};

// The order 0 or 1 for x >= 0.
template <Function f, int lanes>
[[gnu::noinline]] void start(Lanes<lanes>& y, const double* x) {
  constexpr double scale = f.second ? kYScale : 1.0;
#pragma GCC ivdep
  for (int i = 0; i < lanes; ++i) {
    const double least = x[i] < kLeastWave ? x[i] : kLeastWave;
    const TwoPart far = wave_two<f>(x[i] > kLeastWave ? x[i] : kLeastWave);
    const TwoPart near = near_two<f>(least);
    const bool is_near = x[i] < kLeastWave;
    const double near_scaled = scale * near_scale<f>(least);
    y.set(i, {is_near ? near_scaled * near.high : scale * far.high,
              is_near ? near_scaled * near.low : scale * far.low});
  }
  for (int i = 0; i < lanes; ++i) {
    if (is_bessel_near(x[i])) continue;
    const special::Wave far = special::far_wave(f.v, f.second, x[i]);
    y.set(i, {scale * far.high, scale * far.low});
  }
}

template <int lanes>
PULLBACK_INLINE bool is_zero(const Lanes<lanes>& y) {
  int other = 0;
  for (int i = 0; i < lanes; ++i) other |= y.high[i] != 0.0;
  return !other;
}

// 2 k / x now - before
PULLBACK_INLINE TwoPart next_order(int k, TwoPart inverse, TwoPart now, TwoPart before) {
  const double twice = 2 * k;
  const TwoPart first = product(product(twice, inverse), now);
  return sum(first, {-before.high, -before.low});
}

// y = J_n, or Y_n times kYScale, for n >= 0 and x >= 0.
template <bool second, int lanes>
[[gnu::noinline]] void whole_order(Lanes<lanes>& y, const double* x, int n) {
  constexpr Function zero = second ? kY0 : kJ0, one = second ? kY1 : kJ1;
  if (n == 0) return start<zero>(y, x);
  start<one>(y, x);
  if (second && n == 1) return;
  Lanes<lanes> before, inverse;
  start<zero>(before, x);
  double least = x[0], most = x[0];
#pragma GCC ivdep
  for (int i = 0; i < lanes; ++i) {
    const double u = clamped(x[i], second ? 0x1p-520 : 0.0, 0x1p900), high = 1.0 / u;
    inverse.set(i, {high, high * division_rest(1.0, u, high)});
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
    if constexpr (!second) {
      if (x[i] < 1.0) y.set(i, before.at(i));
    }
  }
  const int last = second || most >= n ? n : static_cast<int>(most);
  for (int k = 1; k < last; ++k) {
#pragma GCC ivdep
    for (int i = 0; i < lanes; ++i) {
      const TwoPart now = y.at(i);
      TwoPart next = next_order(k, inverse.at(i), now, before.at(i));
      if constexpr (second) {
        const bool below = !(next.high >= kLeastY);  // or NaN, after an infinity
        y.set(i, {below ? kLeastY : next.high, below ? 0.0 : next.low});
        before.set(i, now);
      } else {
        const bool stable = x[i] >= k + 1;
        y.set(i, {stable ? next.high : now.high, stable ? next.low : now.low});
        before.set(i, now);
      }
    }
  }
  if (second || least >= n) return;
  for (int i = 0; i < lanes; ++i) y.set(i, {kJScale * y.high[i], kJScale * y.low[i]});
  // The ratios from here on change that of the order n by 2^-62 or more.
  const int first = n + 5 + static_cast<int>(7.5 * __builtin_cbrt(n));
  Lanes<lanes> ratio = {};
  for (int k = first; k > least; --k) {
    if (k % 64 == 0 && is_zero(y)) break;
#pragma GCC ivdep
    for (int i = 0; i < lanes; ++i) {
      const TwoPart part = product(x[i], ratio.at(i));
      const TwoPart r = quotient({x[i], 0.0}, sum({2.0 * k, 0.0}, {-part.high, -part.low}));
      TwoPart times = product(y.at(i), r);
      const bool lost = magnitude(times.high) < kLeastJ;
      times = {lost ? 0.0 : times.high, lost ? 0.0 : times.low};
      const bool beyond = (x[i] < k) & (k <= n);
      y.set(i, {beyond ? times.high : y.high[i], beyond ? times.low : y.low[i]});
      ratio.set(i, r);
    }
  }
  for (int i = 0; i < lanes; ++i) y.set(i, {y.high[i] / kJScale, y.low[i] / kJScale});
}

// The `times`-th derivative (DLMF 10.6.7) for up to `lanes` arguments.
template <bool second, int lanes>
[[gnu::noinline]] void bessel_block(double* y, const double* arguments, double order, double times,
                                    int count) {
  const bool is_valid = magnitude(order) <= kMostOrder && order == __builtin_rint(order) &&
                        times >= 0.0 && times <= 64.0;
  const int n = is_valid ? static_cast<int>(order) : 0;
  const int derivative = is_valid ? static_cast<int>(times) : 0;
  const bool is_odd = (n + derivative) % 2 != 0;
  double x[lanes], size[lanes];
  for (int i = 0; i < lanes; ++i) {
    x[i] = i < count ? arguments[i] : 1.0;
    size[i] = magnitude(x[i]);
    size[i] = size[i] < kInfinity<double> && (size[i] > 0.0 || !second) ? size[i] : 1.0;
  }
  Lanes<lanes> term, total = {};
  double choose = 1.0, factor = 1.0;
  for (int j = 0; j <= derivative; ++j) {
    // The largest order, which overflows first, is the last.
    const int k = n < 0 ? derivative - j : j, v = n - derivative + 2 * k;
    whole_order<second>(term, size, v < 0 ? -v : v);
    factor = (k % 2 != 0) != (v < 0 && is_odd) ? -choose : choose;
    for (int i = 0; i < lanes; ++i) total.set(i, sum(total.at(i), product(factor, term.at(i))));
    choose *= static_cast<double>(derivative - j) / (j + 1);
  }
  const double scale = power_of_two(static_cast<uint64_t>((second ? 200 : 0) - derivative));
  for (int i = 0; i < count; ++i) {
    double value = (total.high[i] + total.low[i]) * scale;
    if constexpr (second) {
      const bool is_finite = term.high[i] > kLeastY && x[i] != 0.0;
      value = is_finite ? value : with_sign_of(kInfinity<double>, -factor);
    } else {
      value = is_odd && x[i] < 0.0 ? -value : value;
    }
    value = magnitude(x[i]) == kInfinity<double> ? 0.0 : value;
    if (second && x[i] < 0.0) value = kNaN<double>;
    y[i] = is_valid && x[i] == x[i] ? value : kNaN<double>;
  }
}

// The `times`-th derivatives of n elements.
using OrderFunction = void(double* y, const double* order, const double* x, const double* times,
                           int64_t n);

template <bool second>
void bessel_runs(double* y, const double* order, const double* x, const double* times, int64_t n) {
  constexpr int lanes = 32, few = 3;
  for (int64_t i = 0; i < n;) {
    int count = 1;
    while (count < lanes && i + count < n && order[i + count] == order[i] &&
           times[i + count] == times[i]) {
      ++count;
    }
    count = count > few ? count : 1;
    const auto block = count > 1 ? bessel_block<second, lanes> : bessel_block<second, 1>;
    block(y + i, x + i, order[i], times[i], count);
    i += count;
  }
}

// A tile of any dtype; the functions themselves if `times` is null.
template <class F>
void by_order(OrderFunction function, F* y, const F* order, const F* x, const F* times, int64_t n) {
  constexpr int size = 512;
  double v[size], at[size], derivative[size], value[size];
  for (int64_t start = 0; start < n; start += size) {
    const int count = n - start < size ? static_cast<int>(n - start) : size;
    for (int i = 0; i < count; ++i) {
      v[i] = static_cast<double>(order[start + i]);
      at[i] = static_cast<double>(x[start + i]);
      derivative[i] = times ? static_cast<double>(times[start + i]) : 0.0;
    }
    function(value, v, at, derivative, count);
    for (int i = 0; i < count; ++i) y[start + i] = static_cast<F>(value[i]);
  }
}

// One element.
template <class F>
PULLBACK_INLINE F jn(F order, F x, F times) {
  F y;
  by_order(bessel_runs<false>, &y, &order, &x, &times, 1);
  return y;
}
template <class F>
PULLBACK_INLINE F yn(F order, F x, F times) {
  F y;
  by_order(bessel_runs<true>, &y, &order, &x, &times, 1);
  return y;
}

}  // namespace m
}  // namespace
}  // namespace pullback
