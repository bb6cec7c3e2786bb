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
#include "backend/cpu/kernels/vec_share_terms.h"

namespace pullback {
namespace {
namespace m {

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

// The arguments of the fraction, by lane.
template <class V>
struct BetaArguments {
  ShareColumn<V> a, b, x, y, below;
};

// The points of a block, and what its factors take. s = a + b.
template <class N>
struct BetaPoints : BetaArguments<N> {
  ShareColumn<N> s, rise_a, rise_b, per_mean_a, per_mean_b;
  double swapped[kShareLanes];

  PULLBACK_INLINE void set(int i, const BetaPoint<N>& p) {
    const N of_a = number<N>(p.a), of_b = number<N>(p.b), both = sum_of<N>(p.a, p.b);
    this->a.set(i, of_a);
    this->b.set(i, of_b);
    this->x.set(i, p.x);
    this->y.set(i, p.y);
    this->below.set(i, p.below);
    s.set(i, both);
    rise_a.set(i, -p.below / of_a);
    rise_b.set(i, p.below / of_b);
    per_mean_a.set(i, both / of_a);
    per_mean_b.set(i, both / of_b);
    swapped[i] = p.swapped ? 1.0 : 0.0;
  }
};
// log(gamma(s) / (gamma(a) gamma(b))) less its leading terms.
template <class N>
[[gnu::noinline]] void beta_rests(ShareColumn<N>& out, const ShareColumn<N>& a,
                                  const ShareColumn<N>& b, const ShareColumn<N>& s) {
  ShareColumn<N> of_a, of_b, of_s;
  stirling_rests(of_a, a);
  stirling_rests(of_b, b);
  stirling_rests(of_s, s);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) out.set(i, of_s.at(i) - of_a.at(i) - of_b.at(i));
}

// The factors top exp(power), with derivatives of their logarithms by a and b, up to the order.
template <class N>
struct BetaFactors {
  ShareColumn<N> top, power, by_a, by_b, by_aa, by_ab, by_bb;
};
template <int order, class N>
[[gnu::noinline]] void beta_factors(BetaFactors<N>& out, const BetaPoints<N>& p,
                                    const ShareColumn<N>& rests) {
  Relatives<N> of_a, of_b;
  relatives(of_a, p.rise_a, p.x, p.per_mean_a);
  relatives(of_b, p.rise_b, p.y, p.per_mean_b);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N a = p.a.at(i), b = p.b.at(i);
    out.power.set(i, rests.at(i) - (a * of_a.excess.at(i) + b * of_b.excess.at(i)));
    out.top.set(i, square_root(b / (number<N>(kTwoPi) * (a * p.s.at(i)))));
  }
  if constexpr (order > 0) {
    ShareColumn<N> less_a, less_b, less_s;
    logs_less_digamma<true>(less_a, p.a);
    logs_less_digamma<false>(less_b, p.b);
    logs_less_digamma<false>(less_s, p.s);
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const N less = less_s.at(i);
      out.by_a.set(i, of_a.log.at(i) + (less_a.at(i) - less));
      out.by_b.set(i, of_b.log.at(i) + (less_b.at(i) - less));
    }
  }
  if constexpr (order > 1) {
    ShareColumn<N> slope_a, slope_b;
    trigammas<true>(slope_a, p.a);
    trigammas<false>(slope_b, p.b);
    trigammas<false>(out.by_ab, p.s);
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      out.by_aa.set(i, out.by_ab.at(i) - slope_a.at(i));
      out.by_bb.set(i, out.by_ab.at(i) - slope_b.at(i));
    }
  }
}

// 1 + x (a + b) K, by the numerators and denominators of the convergents. Lanes that do not
// converge are NaN.
template <int order, class N, class V>
[[gnu::noinline]] void beta_fraction(ShareColumn<V>& out, const BetaArguments<V>& of) {
  constexpr double kLost = (order ? 0x1p-18 : 1.0) * (kIsWide<N> ? 0x1p-62 : 0x1p-36);
  constexpr double kMany = 0x1p300, kFew = 0x1p-300;
  ShareColumn<V> top, bottom, top_before, bottom_before, middle, square;
  double rest[kShareLanes], live[kShareLanes];
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
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
    for (int i = 0; i < kShareLanes; ++i) {
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
    for (int i = 0; i < kShareLanes; ++i) any += live[i];
  }
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
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
  BetaPoints<N> p;
  BetaFactors<N> f;
  ShareColumn<N> slope, other_slope, bend;
  ShareColumn<V> sum;
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) p.set(i, beta_point<N>(a[i], b[i], x[i]));
  beta_rests(bend, p.a, p.b, p.s);
  beta_factors<order>(f, p, bend);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N pa = p.a.at(i), pb = p.b.at(i), px = p.x.at(i), py = p.y.at(i), zero = number<N>(0.0);
    if constexpr (which == Beta::Density) {
      out[i] = times_exp(f.top.at(i) * (pa / px) / py, f.power.at(i));
    } else if constexpr (order > 0) {
      const bool by_a = (p.swapped[i] > 0.0) !=
                        (which == Beta::ByA || which == Beta::ByAA || which == Beta::ByAB);
      const double da = by_a ? 1.0 : 0.0, db = 1.0 - da;
      const N below = p.below.at(i), dbelow = either(by_a, py, -px);
      slope.set(i, either(by_a, f.by_a.at(i), f.by_b.at(i)));
      if constexpr (order == 1) {
        of.a.set(i, {pa, number<N>(da)});
        of.b.set(i, {pb, number<N>(db)});
        of.x.set(i, {px, zero});
        of.y.set(i, {py, zero});
        of.below.set(i, {below, dbelow});
      } else {
        const bool mixed = which == Beta::ByAB, second_a = by_a != mixed;
        const double ea = second_a ? 1.0 : 0.0, eb = 1.0 - ea;
        other_slope.set(i, either(second_a, f.by_a.at(i), f.by_b.at(i)));
        bend.set(i, mixed ? f.by_ab.at(i) : either(by_a, f.by_aa.at(i), f.by_bb.at(i)));
        of.a.set(i, {{pa, number<N>(da)}, {number<N>(ea), zero}});
        of.b.set(i, {{pb, number<N>(db)}, {number<N>(eb), zero}});
        of.x.set(i, {{px, zero}, {zero, zero}});
        of.y.set(i, {{py, zero}, {zero, zero}});
        of.below.set(i, {{below, dbelow}, {either(second_a, py, -px), zero}});
      }
    }
  }
  if constexpr (which != Beta::Density) {
    if constexpr (order == 0) {
      beta_fraction<0, N>(sum, p);
    } else {
      beta_fraction<order, N>(sum, of);
    }
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const bool other = p.swapped[i] > 0.0;
      const V h = sum.at(i);
      if constexpr (order == 0) {
        const bool rest = other != (which == Beta::Above);
        const double y = share_of(f.top.at(i) * h, f.power.at(i), rest);
        out[i] = rest & (y < kLeastPart<N>) ? kNaN<double> : y;
      } else if constexpr (order == 1) {
        const double y = times_exp(f.top.at(i) * (slope.at(i) * h.f + h.d), f.power.at(i));
        out[i] = other ? -y : y;
      } else {
        const N first = slope.at(i), second = other_slope.at(i);
        const N y =
            (first * second + bend.at(i)) * h.f.f + (second * h.f.d + (first * h.d.f + h.d.d));
        const double value = times_exp(f.top.at(i) * y, f.power.at(i));
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
  BetaPoints<N> p;
  BetaFactors<N> f;
  ShareColumn<N> slope, bend;
  ShareColumn<V> sum;
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N square = product_of<N>(t[i], t[i]), all = square + n[i];
    const N x = number<N>(n[i]) / all, y = square / all, rise = square + -1.0;
    const N mean_gap = 0.5 * (x * rise);
    p.set(i, below_mean<N>(0.5 * n[i], 0.5, x, y, mean_gap));
  }
  beta_rests(bend, p.a, p.b, p.s);
  beta_factors<order>(f, p, bend);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N pa = p.a.at(i), pb = p.b.at(i), px = p.x.at(i), py = p.y.at(i), zero = number<N>(0.0);
    if constexpr (which == Student::Density) {
      out[i] = times_exp(leading(pa) * f.top.at(i) / number<N>(magnitude(t[i])), f.power.at(i));
    } else if constexpr (order > 0) {
      const bool swapped = p.swapped[i] > 0.0;
      const N square = product_of<N>(t[i], t[i]), all = square + n[i];
      const N y = square / all, rise = square + -1.0, below = p.below.at(i);
      const double da = swapped ? 0.0 : 0.5, db = 0.5 - da, sign = swapped ? -1.0 : 1.0;
      const N speed = y / all, dx = sign * speed, dbelow = 0.5 * (rise * dx);
      const N drift = 0.5 * (rise / all);
      slope.set(i, 0.5 * either(swapped, f.by_b.at(i), f.by_a.at(i)) + drift);
      if constexpr (order == 1) {
        of.a.set(i, {pa, number<N>(da)});
        of.b.set(i, {pb, number<N>(db)});
        of.x.set(i, {px, dx});
        of.y.set(i, {py, -dx});
        of.below.set(i, {below, dbelow});
      } else {
        const N ddx = -2.0 * (dx / all), ddbelow = 0.5 * (rise * ddx);
        const N turn = 0.25 * either(swapped, f.by_bb.at(i), f.by_aa.at(i));
        bend.set(i, turn + (0.5 * y / number<N>(n[i]) - drift / all));
        of.a.set(i, {{pa, number<N>(da)}, {number<N>(da), zero}});
        of.b.set(i, {{pb, number<N>(db)}, {number<N>(db), zero}});
        of.x.set(i, {{px, dx}, {dx, ddx}});
        of.y.set(i, {{py, -dx}, {-dx, -ddx}});
        of.below.set(i, {{below, dbelow}, {dbelow, ddbelow}});
      }
    }
  }
  if constexpr (which != Student::Density) {
    if constexpr (order == 0) {
      beta_fraction<0, N>(sum, p);
    } else {
      beta_fraction<order, N>(sum, of);
    }
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const bool inner = p.swapped[i] > 0.0, right = t[i] > 0.0;
      const V h = sum.at(i);
      if constexpr (order == 0) {
        // Half of it, or half of 1 less it; or 1 less that.
        const double start = inner ? 0.5 : right ? 1.0 : 0.0, sign = inner == right ? 1.0 : -1.0;
        out[i] = start_plus(start, sign, 0.5 * (f.top.at(i) * h), f.power.at(i));
      } else {
        const N first = slope.at(i);
        N y;
        if constexpr (order == 1) {
          y = first * h.f + h.d;
        } else {
          y = (first * first + bend.at(i)) * h.f.f + (2.0 * (first * h.f.d) + h.d.d);
        }
        const double value = times_exp(0.5 * (f.top.at(i) * y), f.power.at(i));
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
