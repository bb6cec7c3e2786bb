// The incomplete beta function I_x(a, b) with its derivatives, for blocks of elements. It is the
// product of a factor, x^a y^b gamma(a + b) / (gamma(a + 1) gamma(b)) for y = 1 - x, and of
// 1 + x (a + b) K, where K is a continued fraction (Didonato and Morris, ACM TOMS 18, 1992,
// section 9) with the parameter a + 1 instead of a. The fraction converges fast below the mean of
// the distribution; above it, the function is 1 - I_y(b, a). No terms of the same sign cancel
// below the mean, and all numbers have two parts.
//
// A derivative of the product is the factor times a combination of derivatives of its logarithm
// and of the fraction. Those of the fraction come from Dual numbers. Every element of a block stops
// at its own number of terms. Start at beta_block().
#pragma once

#include "backend/cpu/kernels/vec_error.h"
#include "backend/cpu/kernels/vec_gamma_terms.h"

namespace pullback {
namespace {
namespace m {

constexpr int kBetaLanes = 16;
constexpr int kBetaTerms = 4000;
// A point below the mean, after an exchange of a and b (and x and y) if necessary.
template <class N>
struct BetaPoint {
  double a, b;
  N x, y, below;  // y = 1 - x, below = a - (a + b) x
  bool swapped;
};
template <class N>
PULLBACK_INLINE BetaPoint<N> below_mean(double a, double b, N x, N y, N below) {
  const bool swapped = leading(below) + 1.0 - 2.0 * leading(x) < 0.0;
  return {swapped ? b : a,
          swapped ? a : b,
          either(swapped, y, x),
          either(swapped, x, y),
          either(swapped, -below, below),
          swapped};
}
template <class N>
PULLBACK_INLINE BetaPoint<N> beta_point(double a, double b, double x) {
  const N below = number<N>(a) - product_of<N>(a, x) - product_of<N>(b, x);
  return below_mean<N>(a, b, number<N>(x), sum_of<N>(1.0, -x), below);
}

// The factor is top exp(power), with derivatives of its logarithm by a and b, up to the order.
template <class N>
struct BetaFactor {
  N top, power, by_a, by_b, by_aa, by_ab, by_bb;
};
template <int order, class N>
PULLBACK_INLINE BetaFactor<N> beta_factor(const BetaPoint<N>& p) {
  const N a = number<N>(p.a), b = number<N>(p.b), s = sum_of<N>(p.a, p.b);
  const Relative<N> of_a = relative(-p.below / a, p.x, s / a),
                    of_b = relative(p.below / b, p.y, s / b);
  const N rests = stirling_rest(s) - stirling_rest(a) - stirling_rest(b);
  BetaFactor<N> y;
  y.power = rests - (a * of_a.excess + b * of_b.excess);
  y.top = square_root(b / (number<N>(kTwoPi) * (a * s)));
  if constexpr (order > 0) {
    const N less = log_less_digamma(s);
    y.by_a = of_a.log + (log_less_digamma(a, true) - less);
    y.by_b = of_b.log + (log_less_digamma(b) - less);
  }
  if constexpr (order > 1) {
    y.by_ab = trigamma_of(s);
    y.by_aa = y.by_ab - trigamma_of(a, true);
    y.by_bb = y.by_ab - trigamma_of(b);
  }
  return y;
}

// The arguments of the fraction, by lane.
template <class V>
struct BetaArguments {
  Column<V, kBetaLanes> a, b, x, y, below;
};

// 1 + x (a + b) K, by the numerators and denominators of the convergents. Lanes that do not
// converge are NaN.
template <int order, class N, class V>
[[gnu::noinline]] void beta_fraction(Column<V, kBetaLanes>& out, const BetaArguments<V>& of) {
  constexpr double kLost = (order ? 0x1p-18 : 1.0) * (kIsWide<N> ? 0x1p-62 : 0x1p-36);
  constexpr double kMany = 0x1p300, kFew = 0x1p-300;
  Column<V, kBetaLanes> top, bottom, top_before, bottom_before, middle, square;
  double rest[kBetaLanes], live[kBetaLanes];
#pragma GCC ivdep
  for (int i = 0; i < kBetaLanes; ++i) {
    const V c = of.below.at(i) + of.y.at(i) + 1.0, zero = 0.0 * c;
    middle.set(i, c);
    square.set(i, of.x.at(i) * of.x.at(i));
    const V first = (of.a.at(i) + 1.0) * c;
    top.set(i, zero + 1.0);
    bottom.set(i, first);
    top_before.set(i, zero);
    bottom_before.set(i, zero + 1.0);
    rest[i] = 1.0 / leading(first);
    live[i] = 1.0;
  }
  double any = 1.0;
  for (int k = 1; any > 0.0 && k < kBetaTerms; ++k) {
    const double n = k;
    const bool is_first = k == 1;
#pragma GCC ivdep
    for (int i = 0; i < kBetaLanes; ++i) {
      const bool is_live = live[i] > 0.0;
      const V a = of.a.at(i), b = of.b.at(i), x = of.x.at(i);
      // a + 2 n - 2, a + 2 n, a + 2 n + 2
      const V now = a + 2.0 * n, after = a + (2.0 * n + 2.0);
      V before = a + (2.0 * n - 2.0);
      if (is_first) before = 0.0 * before + 1.0;
      const V factor = n * (b + -n), an = a + n;
      const V main = after * (n * now + factor * x) +
                     now * ((an + 1.0) * (middle.at(i) + n * (of.y.at(i) + 1.0)));
      const V sides = before * after, sums = an * (an + b), powers = factor * square.at(i);
      const V cross = sides * (sums * powers);
      const V p0 = top_before.at(i), q0 = bottom_before.at(i), p1 = top.at(i), q1 = bottom.at(i);
      const V p2 = main * p1 + cross * p0, q2 = main * q1 + cross * q0;
      // For an integer b the value ends, but not its derivatives.
      double size = magnitude(leading(cross));
      if constexpr (order > 0) {
        const double gap = magnitude(leading(b) - n) + 1.0;
        size = leading(sides) * leading(sums) * (n * gap * leading(square.at(i)));
      }
      const double bound = rest[i] * (size * magnitude(leading(q0) / leading(q2)));
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
    for (int i = 0; i < kBetaLanes; ++i) any += live[i];
  }
#pragma GCC ivdep
  for (int i = 0; i < kBetaLanes; ++i) {
    const V a = of.a.at(i), mean = of.x.at(i) * (a + of.b.at(i));
    const V y = mean * ((a + 2.0) * (top.at(i) / bottom.at(i))) + 1.0;
    out.set(i, (live[i] > 0.0 ? kNaN<double> : 1.0) * y);
  }
}

enum class Beta { Below, Above, ByA, ByB, ByAA, ByAB, ByBB, Density };
constexpr int order_of(Beta which) {
  if (which == Beta::ByA || which == Beta::ByB) return 1;
  return which == Beta::ByAA || which == Beta::ByAB || which == Beta::ByBB ? 2 : 0;
}

template <Beta which, class N>
[[gnu::noinline]] void beta_block(double* out, const double* a, const double* b, const double* x) {
  constexpr int order = order_of(which);
  using V = typename Derivatives<order, N>::Type;
  BetaArguments<V> of;
  Column<N, kBetaLanes> factor, power, slope, other_slope, bend;
  Column<V, kBetaLanes> sum;
  double swapped[kBetaLanes];
#pragma GCC ivdep
  for (int i = 0; i < kBetaLanes; ++i) {
    const BetaPoint<N> p = beta_point<N>(a[i], b[i], x[i]);
    const BetaFactor<N> f = beta_factor<order>(p);
    const N zero = number<N>(0.0);
    swapped[i] = p.swapped ? 1.0 : 0.0;
    factor.set(i, f.top);
    power.set(i, f.power);
    if constexpr (which == Beta::Density) {
      out[i] = times_exp(f.top * (number<N>(p.a) / p.x) / p.y, f.power);
    } else if constexpr (order == 0) {
      of.a.set(i, number<N>(p.a));
      of.b.set(i, number<N>(p.b));
      of.x.set(i, p.x);
      of.y.set(i, p.y);
      of.below.set(i, p.below);
    } else {
      const bool by_a =
          p.swapped != (which == Beta::ByA || which == Beta::ByAA || which == Beta::ByAB);
      const double da = by_a ? 1.0 : 0.0, db = 1.0 - da;
      const N dbelow = either(by_a, p.y, -p.x);
      slope.set(i, either(by_a, f.by_a, f.by_b));
      if constexpr (order == 1) {
        of.a.set(i, {number<N>(p.a), number<N>(da)});
        of.b.set(i, {number<N>(p.b), number<N>(db)});
        of.x.set(i, {p.x, zero});
        of.y.set(i, {p.y, zero});
        of.below.set(i, {p.below, dbelow});
      } else {
        const bool mixed = which == Beta::ByAB, second_a = by_a != mixed;
        const double ea = second_a ? 1.0 : 0.0, eb = 1.0 - ea;
        other_slope.set(i, either(second_a, f.by_a, f.by_b));
        bend.set(i, mixed ? f.by_ab : either(by_a, f.by_aa, f.by_bb));
        of.a.set(i, {{number<N>(p.a), number<N>(da)}, {number<N>(ea), zero}});
        of.b.set(i, {{number<N>(p.b), number<N>(db)}, {number<N>(eb), zero}});
        of.x.set(i, {{p.x, zero}, {zero, zero}});
        of.y.set(i, {{p.y, zero}, {zero, zero}});
        of.below.set(i, {{p.below, dbelow}, {either(second_a, p.y, -p.x), zero}});
      }
    }
  }
  if constexpr (which != Beta::Density) {
    beta_fraction<order, N>(sum, of);
#pragma GCC ivdep
    for (int i = 0; i < kBetaLanes; ++i) {
      const bool other = swapped[i] > 0.0;
      const V h = sum.at(i);
      if constexpr (order == 0) {
        const bool rest = other != (which == Beta::Above);
        const double y = share_of(factor.at(i) * h, power.at(i), rest);
        out[i] = rest & (y < kLeastPart<N>) ? kNaN<double> : y;
      } else if constexpr (order == 1) {
        const double y = times_exp(factor.at(i) * (slope.at(i) * h.f + h.d), power.at(i));
        out[i] = other ? -y : y;
      } else {
        const N first = slope.at(i), second = other_slope.at(i);
        const N y =
            (first * second + bend.at(i)) * h.f.f + (second * h.f.d + (first * h.d.f + h.d.d));
        const double value = times_exp(factor.at(i) * y, power.at(i));
        out[i] = other ? -value : value;
      }
    }
  }
}

// True for arguments of beta_block(). A result of NaN is not one of the function.
template <Beta which, class F>
PULLBACK_INLINE bool is_beta_block(F a, F b, F x) {
  // Terms of derivatives cancel for small parameters.
  constexpr F least = order_of(which) ? F(0x1p-12) : F(0x1p-20), most = F(0x1p20);
  constexpr F near = sizeof(F) == 4           ? F(0x1p-126)
                     : which == Beta::Density ? F(0x1p-200)
                                              : F(0x1p-900);
  return (a > least) & (b > least) & (a < most) & (b < most) & (x > near) & (x < F(1));
}

// Student's distribution and its derivatives by n, the degrees of freedom: below -|t| it is half of
// I_x(n / 2, 1 / 2) for x = n / (n + t^2). The derivatives are those along this path.
enum class Student { Value, Slope, Bend, Density };

// start + sign y exp(power)
PULLBACK_INLINE double start_plus(double start, double sign, TwoPart y, TwoPart power) {
  const ScaledTwo part = scaled_exp(y, power);
  const double high = scaled(part.y.high, part.shifted), low = scaled(part.y.low, part.shifted);
  const TwoPart sum = quick_sum(start, sign * high);
  return start == 0.0 ? rounded(part) : sum.high + (sum.low + sign * low);
}
PULLBACK_INLINE double start_plus(double start, double sign, double y, double power) {
  return start + sign * times_exp(y, power);
}

template <Student which, class N>
[[gnu::noinline]] void student_block(double* out, const double* n, const double* t) {
  constexpr int order = which == Student::Slope ? 1 : which == Student::Bend ? 2 : 0;
  using V = typename Derivatives<order, N>::Type;
  BetaArguments<V> of;
  Column<N, kBetaLanes> factor, power, slope, bend;
  Column<V, kBetaLanes> sum;
  double swapped[kBetaLanes];
#pragma GCC ivdep
  for (int i = 0; i < kBetaLanes; ++i) {
    const N square = product_of<N>(t[i], t[i]), all = square + n[i];
    const N x = number<N>(n[i]) / all, y = square / all, rise = square + -1.0;
    const N mean_gap = 0.5 * (x * rise);
    const BetaPoint<N> p = below_mean<N>(0.5 * n[i], 0.5, x, y, mean_gap);
    const BetaFactor<N> f = beta_factor<order>(p);
    const N zero = number<N>(0.0);
    swapped[i] = p.swapped ? 1.0 : 0.0;
    factor.set(i, f.top);
    power.set(i, f.power);
    if constexpr (which == Student::Density) {
      out[i] = times_exp(p.a * f.top / number<N>(magnitude(t[i])), f.power);
    } else if constexpr (order == 0) {
      of.a.set(i, number<N>(p.a));
      of.b.set(i, number<N>(p.b));
      of.x.set(i, p.x);
      of.y.set(i, p.y);
      of.below.set(i, p.below);
    } else {
      const double da = p.swapped ? 0.0 : 0.5, db = 0.5 - da, sign = p.swapped ? -1.0 : 1.0;
      const N speed = y / all, dx = sign * speed, dbelow = 0.5 * (rise * dx);
      const N drift = 0.5 * (rise / all);
      slope.set(i, 0.5 * either(p.swapped, f.by_b, f.by_a) + drift);
      if constexpr (order == 1) {
        of.a.set(i, {number<N>(p.a), number<N>(da)});
        of.b.set(i, {number<N>(p.b), number<N>(db)});
        of.x.set(i, {p.x, dx});
        of.y.set(i, {p.y, -dx});
        of.below.set(i, {p.below, dbelow});
      } else {
        const N ddx = -2.0 * (dx / all), ddbelow = 0.5 * (rise * ddx);
        const N turn = 0.25 * either(p.swapped, f.by_bb, f.by_aa);
        bend.set(i, turn + (0.5 * y / number<N>(n[i]) - drift / all));
        of.a.set(i, {{number<N>(p.a), number<N>(da)}, {number<N>(da), zero}});
        of.b.set(i, {{number<N>(p.b), number<N>(db)}, {number<N>(db), zero}});
        of.x.set(i, {{p.x, dx}, {dx, ddx}});
        of.y.set(i, {{p.y, -dx}, {-dx, -ddx}});
        of.below.set(i, {{p.below, dbelow}, {dbelow, ddbelow}});
      }
    }
  }
  if constexpr (which != Student::Density) {
    beta_fraction<order, N>(sum, of);
#pragma GCC ivdep
    for (int i = 0; i < kBetaLanes; ++i) {
      const bool inner = swapped[i] > 0.0, right = t[i] > 0.0;
      const V h = sum.at(i);
      if constexpr (order == 0) {
        // Half of it, or half of 1 less it; or 1 less that.
        const double start = inner ? 0.5 : right ? 1.0 : 0.0, sign = inner == right ? 1.0 : -1.0;
        out[i] = start_plus(start, sign, 0.5 * (factor.at(i) * h), power.at(i));
      } else {
        const N first = slope.at(i);
        N y;
        if constexpr (order == 1) {
          y = first * h.f + h.d;
        } else {
          y = (first * first + bend.at(i)) * h.f.f + (2.0 * (first * h.f.d) + h.d.d);
        }
        const double value = times_exp(0.5 * (factor.at(i) * y), power.at(i));
        out[i] = inner == right ? value : -value;
      }
    }
  }
}

template <class F>
PULLBACK_INLINE bool is_student_block(F n, F t) {
  constexpr F least = F(0x1p-20), most = F(0x1p40), near = F(0x1p-100), far = F(0x1p100);
  return (n > least) & (n < most) & (magnitude(t) > near) & (magnitude(t) < far);
}

}  // namespace m
}  // namespace
}  // namespace pullback
