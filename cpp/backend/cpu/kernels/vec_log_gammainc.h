// The logarithms of the incomplete gamma functions P and Q with their derivatives by a and x, for
// blocks of elements. Factor and sum are those of vec_gammainc.h; only logarithms of them are
// formed, so nothing leaves the range of numbers in the tails.
#pragma once

#include "backend/cpu/kernels/vec_gammainc.h"

namespace pullback {
namespace {
namespace m {

enum class LogGamma { Value, ByA, ByAA, ByX };
constexpr int order_of(LogGamma which) {
  return which == LogGamma::ByA ? 1 : which == LogGamma::ByAA ? 2 : 0;
}

// Logarithms of P or Q and its derivatives.
template <class N>
struct LogPart {
  N log, by_a, by_aa, by_x;
};
// Those of 1 less it.
template <class N>
PULLBACK_INLINE LogPart<N> log_rest_of(const LogPart<N>& y) {
  const N one = number<N>(1.0), part = part_of(one, y.log), rest = one - part, odds = part / rest;
  const double lost = leading(rest) > kLeastPart<N> ? 0.0 : kNaN<double>;
  return {log_of(rest) + lost, -odds * y.by_a, -odds * (y.by_aa + (odds + 1.0) * (y.by_a * y.by_a)),
          -odds * y.by_x};
}
template <class N>
PULLBACK_INLINE LogPart<N> either(bool first, const LogPart<N>& a, const LogPart<N>& b) {
  return {either(first, a.log, b.log), either(first, a.by_a, b.by_a),
          either(first, a.by_aa, b.by_aa), either(first, a.by_x, b.by_x)};
}

// The function of P, or of Q if `upper`.
template <LogGamma which, class N>
[[gnu::noinline]] void log_gamma_block(double* out, const double* a, const double* x,
                                       bool is_upper) {
  constexpr int order = order_of(which);
  using V = typename Derivatives<order, N>::Type;
  GammaPoints<N> points;
  ShareColumn<N> power, less, rests, turns;
  ShareColumn<V> sum;
  double size[kShareLanes], at[kShareLanes];
  gamma_points(points, a, x);
  stirling_rests(rests, points.a);
  if constexpr (order > 0) logs_less_digamma<true>(less, points.a);
  if constexpr (order > 1) trigammas<true>(turns, points.a);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    power.set(i, -a[i] * points.of.excess.at(i));
    size[i] = points.near[i] > 0.0 ? 1.0 : a[i];
    at[i] = points.near[i] > 0.0 ? 0x1p-60 : x[i];
  }
  gamma_sum<order, N>(sum, size, at, points.upper);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool near = points.near[i] > 0.0;
    const double p = near ? a[i] : kTemmeFrom, e = near ? points.eta[i] : 0.0;
    const N one = number<N>(1.0), root = square_root(a[i] * number<N>(kTwoPi));
    const N rest = rests.at(i);
    const V h = sum.at(i);
    LogPart<N> far, close;
    // factor times sum
    far.by_a = far.by_aa = close.by_a = close.by_aa = number<N>(0.0);
    if constexpr (order == 0) {
      far.log = (power.at(i) - rest) + log_of(h / root);
      far.by_x = number<N>(a[i]) / h;
    } else if constexpr (order == 1) {
      far.log = (power.at(i) - rest) + log_of(h.f / root);
      far.by_x = number<N>(a[i]) / h.f;
      far.by_a = (points.of.log.at(i) + less.at(i)) + h.d / h.f;
    } else {
      const N log_slope = h.f.d / h.f.f;
      far.log = (power.at(i) - rest) + log_of(h.f.f / root);
      far.by_x = number<N>(a[i]) / h.f.f;
      far.by_a = (points.of.log.at(i) + less.at(i)) + log_slope;
      far.by_aa = h.d.d / h.f.f - log_slope * log_slope - turns.at(i);
    }
    // The expansion; below a, it is P.
    const double tail_rest = kPerRootTwoPi.high * temme_sum<double>(1.0 / p, e) / __builtin_sqrt(p);
    const double t = magnitude(e) * __builtin_sqrt(0.5 * p);
    const N whole = tail_share(t, one) + (e < 0.0 ? -tail_rest : tail_rest);
    const N scale = (e < 0.0 ? -1.0 : 1.0) * (whole * root);
    close.log = power.at(i) + log_of(whole);
    close.by_x = a[i] * (part_of(one, -rest) / (whole * root));
    if constexpr (order > 0) close.by_a = number<N>(temme_slope<1>(p, e)) / scale;
    if constexpr (order > 1) {
      const N first = number<N>(temme_slope<2>(p, e)) / scale, square = close.by_a * close.by_a;
      const N bend = first - square;
      const bool lost = magnitude(leading(bend)) < 0.25 * leading(square);
      close.by_aa = bend + (lost ? kNaN<double> : 0.0);
    }
    const bool direct_is_upper = near ? e >= 0.0 : points.upper[i] > 0.0;
    LogPart<N> y = either(near, close, far);
    if (direct_is_upper) y.by_x = -y.by_x;
    // The terms of a logarithm cancel next to 0.
    const bool lost = (which == LogGamma::Value) & (magnitude(leading(y.log)) < kLeastPart<N>);
    const LogPart<N> other = log_rest_of(y);
    y.log = y.log + (lost ? kNaN<double> : 0.0);
    y = either(direct_is_upper == is_upper, y, other);
    const N value = which == LogGamma::Value  ? y.log
                    : which == LogGamma::ByA  ? y.by_a
                    : which == LogGamma::ByAA ? y.by_aa
                                              : y.by_x / number<N>(x[i]);
    const bool valid = leading(y.log) == leading(y.log);
    out[i] = valid ? leading(value + 0.0) : kNaN<double>;
  }
}

// True for arguments of log_gamma_block(). A result of NaN is not one of the function.
template <LogGamma which, class F>
PULLBACK_INLINE bool is_log_gamma_block(F a, F x) {
  return is_incomplete_block(a, x) & (which != LogGamma::ByAA || a > F(0x1p-12));
}

}  // namespace m
}  // namespace
}  // namespace pullback
