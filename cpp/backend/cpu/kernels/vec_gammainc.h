// Derivatives of the incomplete gamma function P(a, x) by a, for blocks of elements. P for x below
// a, or Q = 1 - P above, is the product of a factor, x^a exp(-x) / gamma(a + 1), and of a sum: the
// power series below, a continued fraction above, both by the same recurrence. Near x = a, for
// large a, the expansion of DLMF 8.12 is differentiated. Numbers have two parts, except in the
// expansion; derivatives of the sums come from Dual numbers. Start at gamma_block().
#pragma once

#include "backend/cpu/kernels/vec_share_terms.h"

namespace pullback {
namespace {
namespace m {

constexpr int kIncompleteTerms = 1500;
constexpr double kTemmeFrom = 200.0;  // the expansion has all digits from here on,
constexpr double kTemmeMost = 0.125;  // for x / a - 1 - log(x / a) up to this

// The terms from `first` to `terms` of c0 + c1 x + ..., divided by x^first, in a number with
// derivatives.
template <int terms, int first = 0, class V, size_t n>
PULLBACK_INLINE V series_of(const long double (&c)[n], const V& x) {
  V sum = 0.0 * x + static_cast<double>(c[terms - 1]);
#pragma GCC unroll 32
  for (int k = terms - 2; k >= first; --k) sum = sum * x + static_cast<double>(c[k]);
  return sum;
}
template <class V>
PULLBACK_INLINE V temme_sum(const V& r, const V& eta) {
  V sum = series_of<3>(special::kTemme[6], eta);
  sum = sum * r + series_of<6>(special::kTemme[5], eta);
  sum = sum * r + series_of<10>(special::kTemme[4], eta);
  sum = sum * r + series_of<12>(special::kTemme[3], eta);
  sum = sum * r + series_of<15>(special::kTemme[2], eta);
  sum = sum * r + series_of<17>(special::kTemme[1], eta);
  return sum * r + series_of<20>(special::kTemme[0], eta);
}

// The derivative of Q by a, of this order, divided by exp(-a eta^2 / 2) / sqrt(2 pi a).
template <int order>
PULLBACK_INLINE TwoPart temme_slope(double a, double eta) {
  // eta changes by -h / a, where h = 1 + rise
  using First = Dual<double>;
  const First rise = First{eta, 1.0} * series_of<24, 1>(special::kEtaSlope, First{eta, 1.0});
  const double h = rise.f + 1.0, r = 1.0 / a, speed = -h * r, turn = (h * r - rise.d * speed) * r;
  const double k = eta * h - 0.5 * eta * eta - 0.5 * r;  // that of the logarithm of the divisor
  using V = typename Derivatives<order, double>::Type;
  if constexpr (order == 1) {
    const V sum = temme_sum(V{r, -r * r}, V{eta, speed});
    return quick_sum(1.0, rise.f - 0.5 * eta + (k * sum.f + sum.d));
  } else {
    const V sum =
        temme_sum(V{{r, -r * r}, {-r * r, 2.0 * r * r * r}}, V{{eta, speed}, {speed, turn}});
    const double dh = rise.d * speed;
    const double dk = speed * h + eta * dh - eta * speed + 0.5 * r * r;
    const double w = (h - 0.5 * eta) + (k * sum.f.f + sum.f.d);
    const double dw = (dh - 0.5 * speed) + (dk * sum.f.f + k * sum.f.d + sum.d.d);
    return {k * w + dw, 0.0};
  }
}

// The sum of a lane, by the numerators and denominators of convergents. Below, the recurrence with
// a + n + x and -x (a + n - 1) has the partial sums of the series. Lanes that do not converge are
// NaN.
template <int order, class N, class V>
[[gnu::noinline]] void gamma_sum(ShareColumn<V>& out, const double* size, const double* at,
                                 const double* upper) {
  constexpr double kLost = (order ? 0x1p-10 : 1.0) * (kIsWide<N> ? 0x1p-62 : 0x1p-36);
  constexpr double kMany = 0x1p300, kFew = 0x1p-300;
  ShareColumn<V> of, top, bottom, top_before, bottom_before;
  double rest[kShareLanes], live[kShareLanes];
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool is_upper = upper[i] > 0.0;
    V a;
    if constexpr (order == 0) {
      a = number<N>(size[i]);
    } else if constexpr (order == 1) {
      a = {number<N>(size[i]), number<N>(1.0)};
    } else {
      a = {{number<N>(size[i]), number<N>(1.0)}, {number<N>(1.0), number<N>(0.0)}};
    }
    of.set(i, a);
    const V zero = 0.0 * a, one = zero + 1.0;
    // Above a / (x + 1 - a + ...), below 1 + ...
    const V first = -a + at[i] + 1.0;
    top.set(i, one);
    top_before.set(i, zero);
    bottom.set(i, one);
    bottom_before.set(i, one / a);
    top.set_if(is_upper, i, a);
    bottom.set_if(is_upper, i, first);
    bottom_before.set_if(is_upper, i, one);
    rest[i] = is_upper ? leading(a) / leading(first) : 1.0;
    live[i] = 1.0;
  }
  double any = 1.0;
  for (int k = 1; any > 0.0 && k < kIncompleteTerms; ++k) {
    const double n = k;
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const bool is_upper = upper[i] > 0.0, is_live = live[i] > 0.0;
      const V a = of.at(i), p0 = top_before.at(i), q0 = bottom_before.at(i), p1 = top.at(i),
              q1 = bottom.at(i);
      const V signed_a = (is_upper ? -1.0 : 1.0) * a;
      const V main = signed_a + (is_upper ? 2.0 * n + 1.0 : n) + at[i];
      const V cross = (is_upper ? -n : -at[i]) * (signed_a + (is_upper ? n : n - 1.0));
      const V p2 = main * p1 + cross * p0, q2 = main * q1 + cross * q0;
      const double ratio = leading(q0) / leading(q2);
      // For an integer a the value ends, but not its derivatives.
      const double gap = magnitude(leading(a) - n) + (order ? 1.0 : 0.0);
      const double bound =
          rest[i] * (is_upper ? n * gap * magnitude(ratio) : at[i] / (leading(a) + n));
      const bool ends = bound * magnitude(leading(q2)) <= kLost * magnitude(leading(p2));
      const double scale = magnitude(leading(q2)) > kMany ? kFew : 1.0;
      top.set_if(is_live, i, scale * p2);
      bottom.set_if(is_live, i, scale * q2);
      top_before.set_if(is_live, i, scale * p1);
      bottom_before.set_if(is_live, i, scale * q1);
      rest[i] = bound;
      live[i] = ends ? 0.0 : live[i];
    }
    any = 0.0;
    for (int i = 0; i < kShareLanes; ++i) any += live[i];
  }
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    out.set(i, (live[i] > 0.0 ? kNaN<double> : 1.0) * (top.at(i) / bottom.at(i)));
  }
}

// x / a - 1 - log(x / a) and log(x / a), and the formulas for them.
template <class N>
struct GammaPoints {
  ShareColumn<N> a;
  Relatives<N> of;
  double eta[kShareLanes];  // of the expansion if `near`
  double near[kShareLanes], far[kShareLanes],
      upper[kShareLanes];  // 1 or 0; far: exp(-a excess) is 0
};
template <class N>
[[gnu::noinline]] void gamma_points(GammaPoints<N>& out, const double* a, const double* x) {
  ShareColumn<N> at, rise, inverse;
  double above[kShareLanes];
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N p = number<N>(a[i]), gap = sum_of<N>(x[i], -a[i]);
    out.a.set(i, p);
    at.set(i, number<N>(x[i]));
    rise.set(i, gap / p);
    inverse.set(i, number<N>(1.0) / p);
    above[i] = leading(gap);
  }
  relatives(out.of, rise, at, inverse);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const double excess = leading(out.of.excess.at(i));
    const bool near = (a[i] >= kTemmeFrom) & (excess <= kTemmeMost);
    const bool far = !(a[i] * excess < -kLeastPower);
    const bool upper = (x[i] >= 2.0) & (above[i] > 0.3 * __builtin_sqrt(a[i])) & !near;
    out.eta[i] = with_sign_of(0x1.6a09e667f3bcdp+0 * __builtin_sqrt(excess), above[i]);
    out.near[i] = near ? 1.0 : 0.0;
    out.far[i] = far ? 1.0 : 0.0;
    out.upper[i] = upper ? 1.0 : 0.0;
  }
}

// The derivative of P by a, of order 1 or 2.
template <int order, class N>
[[gnu::noinline]] void gamma_block(double* out, const double* a, const double* x) {
  using V = typename Derivatives<order, N>::Type;
  GammaPoints<N> p;
  ShareColumn<N> power, less;
  ShareColumn<V> sum;
  double upper[kShareLanes], size[kShareLanes], at[kShareLanes];
  double any_near = 0.0, any_other = 0.0;
  gamma_points(p, a, x);
  logs_less_digamma<true>(less, p.a);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool near = p.near[i] > 0.0, none = near | (p.far[i] > 0.0);
    power.set(i, -a[i] * p.of.excess.at(i));
    upper[i] = (p.upper[i] > 0.0) & !none ? 1.0 : 0.0;
    // Lanes that need no sum converge at once.
    size[i] = none ? 1.0 : a[i];
    at[i] = none ? 0x1p-60 : x[i];
    any_near += near ? 1.0 : 0.0;
    any_other += near ? 0.0 : 1.0;
  }
  if (any_other > 0.0) {
    ShareColumn<N> rests, turns;
    gamma_sum<order, N>(sum, size, at, upper);
    stirling_rests(rests, p.a);
    if constexpr (order == 2) trigammas<true>(turns, p.a);
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const V h = sum.at(i);
      const N s = p.of.log.at(i) + less.at(i);
      N y;
      if constexpr (order == 1) {
        y = s * h.f + h.d;
      } else {
        const N bend = s * s - turns.at(i);
        y = bend * h.f.f + (2.0 * (s * h.f.d) + h.d.d);
      }
      const N root = square_root(a[i] * number<N>(kTwoPi));
      const N e = power.at(i) - rests.at(i);
      const double value = times_exp(y / root, e);
      out[i] = upper[i] > 0.0 ? -value : value;
    }
  }
  if (any_near > 0.0) {
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const bool near = p.near[i] > 0.0;
      const N y = number<N>(temme_slope<order>(near ? a[i] : kTemmeFrom, near ? p.eta[i] : 0.0));
      const N root = square_root(a[i] * number<N>(kTwoPi));
      const double value = times_exp(-y / root, power.at(i));
      out[i] = near ? value : out[i];
    }
  }
}

// dy/da for constant P(a, exp(y)), or its derivative by a.
template <int order, class N>
[[gnu::noinline]] void path_block(double* out, const double* a, const double* y) {
  using V = typename Derivatives<order, N>::Type;
  GammaPoints<N> p;
  ShareColumn<N> less, turns;
  ShareColumn<V> sum;
  double x[kShareLanes], size[kShareLanes], at[kShareLanes];
  for (int i = 0; i < kShareLanes; ++i) x[i] = exp(y[i]);
  gamma_points(p, a, x);
  logs_less_digamma<true>(less, p.a);
  if constexpr (order == 2) trigammas<true>(turns, p.a);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    size[i] = p.near[i] > 0.0 ? 1.0 : a[i];
    at[i] = p.near[i] > 0.0 ? 0x1p-60 : x[i];
  }
  gamma_sum<order, N>(sum, size, at, p.upper);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool near = p.near[i] > 0.0;
    const double of = near ? a[i] : kTemmeFrom, e = near ? p.eta[i] : 0.0;
    const V h = sum.at(i);
    const N s = p.of.log.at(i) + less.at(i);
    const N sign = number<N>((p.upper[i] > 0.0 ? 1.0 : -1.0) / a[i]);
    // The terms of the second derivative of the expansion cancel.
    const double growth = order == 1 ? exp(stirling_rest(of)) / of : kNaN<double>;
    const N close = number<N>(growth * leading(temme_slope<1>(of, e)));
    N path;
    if constexpr (order == 1) {
      path = sign * (s * h.f + h.d);
    } else {
      const N first = sign * (s * h.f.f + h.f.d);
      const N bend = s * h.f.d + h.d.d - turns.at(i) * h.f.f;
      path = sign * bend - first / number<N>(a[i]);
    }
    out[i] = leading(either(near, close, path) + 0.0);
  }
}
template <class F>
PULLBACK_INLINE bool is_path_block(F a, F y) {
  return (a > F(0x1p-40)) & (a < F(0x1p40)) & (y > F(-600)) & (y < F(27));
}

// True for arguments of gamma_block(). A result of NaN is not one of the function.
template <class F>
PULLBACK_INLINE bool is_incomplete_block(F a, F x) {
  constexpr F least = F(0x1p-40), most = F(0x1p60);
  constexpr F near = sizeof(F) == 4 ? F(0x1p-126) : F(0x1p-900);
  return (a > least) & (a < most) & (x > near) & (x < most);
}

}  // namespace m
}  // namespace
}  // namespace pullback
