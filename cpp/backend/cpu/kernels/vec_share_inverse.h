// Inverses of the incomplete gamma and beta functions and of Student's distribution, for blocks of
// elements: Halley's method on the logarithm of the smaller integral, in double, and for float64 a
// last step of Newton's from an integral in two parts. The logarithm is concave in log(x), or in
// log(x / (1 - x)), so the iteration converges from any start. Every element of a block stops at
// its own step. Start at beta_inverse_block() and gamma_inverse_block().
#pragma once

#include "backend/cpu/kernels/vec_betainc.h"
#include "backend/cpu/kernels/vec_error_inverse.h"
#include "backend/cpu/kernels/vec_gammainc.h"

namespace pullback {
namespace {
namespace m {

constexpr int kInverseSteps = 60;
constexpr double kLargestStep = 4.0, kMostLog = 650.0;

// The step to a value that is `gap` above that of f, from 1 / f' and f'' / f'; and its size in
// units of the range where f is nearly linear. The error after a step is some cube of this size.
struct HalleyStep {
  double step, size;
};
PULLBACK_INLINE HalleyStep halley_step(double gap, double ratio, double bend) {
  const double newton = gap * ratio;
  const double step = newton / clamped(1.0 + 0.5 * newton * bend, 0.5, 2.0);
  return {step, magnitude(newton) * (1.0 + magnitude(bend) + 1.0 / magnitude(ratio))};
}
template <class N>
constexpr double kLastStep = kIsWide<N> ? 1e-4 : 1e-3;

PULLBACK_INLINE TwoPart log_part(double x, TwoPart) { return log_two(x); }
PULLBACK_INLINE double log_part(double x, double) { return log_sum(x, 0.0, 0.0); }
// -ndtri(p) to some digits, for p <= 1/2.
PULLBACK_INLINE double rough_deviate(double p) {
  return kRootTwo.high * rough_erf_inverse(2.0 * p - 1.0, 2.0 * p);
}

// A logarithm of an integral, and the change of the variable that raises it by 1.
template <class N>
struct LogShare {
  ShareColumn<N> log;
  double ratio[kShareLanes];
};

// --- beta: the variable is u = log(x / (1 - x))

// `rests` is a sum that depends on a and b only.
template <class N>
struct BetaLanes {
  double a[kShareLanes], b[kShareLanes], u[kShareLanes];
  ShareColumn<N> rests, x, y;

  void set_rests() {
    ShareColumn<N> p, q, s;
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      p.set(i, number<N>(a[i]));
      q.set(i, number<N>(b[i]));
      s.set(i, sum_of<N>(a[i], b[i]));
    }
    beta_rests(rests, p, q, s);
  }
};

template <class N>
[[gnu::noinline]] void beta_shares(LogShare<N>& out, BetaLanes<N>& of) {
  BetaPoints<N> p;
  BetaFactors<N> f;
  ShareColumn<N> sum;
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N one = number<N>(1.0), odds = part_of(one, number<N>(of.u[i])), both = odds + 1.0;
    const N x = odds / both, y = one / both, below = of.a[i] * y - of.b[i] * x;
    p.set(i, below_mean<N>(of.a[i], of.b[i], x, y, below));
    of.x.set(i, x);
    of.y.set(i, y);
  }
  beta_factors<0>(f, p, of.rests);
  beta_fraction<0, N>(sum, p);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool other = p.swapped[i] > 0.0;
    const N one = number<N>(1.0), power = f.power.at(i), share = f.top.at(i) * sum.at(i);
    // Beyond the mean the integral is 1 less the other one.
    const N rest = one - part_of(share, power);
    const double density = leading(p.a.at(i)) * leading(f.top.at(i));
    const double lost = other & !(leading(rest) > kLeastPart<N>) ? kNaN<double> : 0.0;
    const double change = leading(rest) / (density * exp(leading(power)));
    const N direct = power + log_of(share);
    out.log.set(i, either(other, log_of(either(other, rest, one)), direct) + lost);
    out.ratio[i] = other ? change : leading(share) / density;
  }
}

PULLBACK_INLINE double beta_start(double a, double b, double p, double rests) {
  const double s = a + b, log_p = log(p), middle = log(a / b);
  // the power law at 0: p = x^a / (a beta(a, b))
  const double top = 0.5 * log(b / (kTwoPi.high * a * s));
  const double log_x = (log_p + a * log(a / s) + b * log(b / s) - rests - top) / a;
  const double power = log_x < -0.7 ? log_x - log1p(-exp(log_x)) : middle;
  // Abramowitz and Stegun (1964) 26.5.22
  const double y = rough_deviate(p), bend = (y * y - 3.0) * (1.0 / 6);
  const double ra = 1.0 / (2.0 * a - 1.0), rb = 1.0 / (2.0 * b - 1.0), h = 2.0 / (ra + rb);
  const double root = y * __builtin_sqrt(h + bend > 0.0 ? h + bend : 0.0) / h;
  const double near = middle - 2.0 * (root - (rb - ra) * (bend + 5.0 / 6 - 2.0 / (3.0 * h)));
  return clamped((a > 1.0) & (b > 1.0) ? near : power, -kMostLog, kMostLog);
}

// u where the integral below is p <= 1/2; NaN if there was no convergence.
template <class N>
[[gnu::noinline]] void beta_newton(BetaLanes<double>& of, const double* p) {
  LogShare<double> share;
  double live[kShareLanes], any = 1.0;
  of.set_rests();
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    of.u[i] = beta_start(of.a[i], of.b[i], p[i], of.rests.at(i));
    live[i] = 1.0;
  }
  for (int k = 0; any > 0.0 && k < kInverseSteps; ++k) {
    beta_shares<double>(share, of);
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const double ratio = share.ratio[i];
      const double bend = of.a[i] * of.y.at(i) - of.b[i] * of.x.at(i) - 1.0 / ratio;
      const HalleyStep at = halley_step(log(p[i]) - share.log.at(i), ratio, bend);
      const double most = kLargestStep + magnitude(of.u[i]);
      const double u = clamped(of.u[i] + clamped(at.step, -most, most), -kMostLog, kMostLog);
      of.u[i] = live[i] > 0.0 ? (at.step == at.step ? u : at.step) : of.u[i];
      live[i] = at.size > kLastStep<N> ? live[i] : 0.0;
    }
    any = 0.0;
    for (int i = 0; i < kShareLanes; ++i) any += live[i];
  }
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) of.u[i] = live[i] > 0.0 ? kNaN<double> : of.u[i];
}

// Calls with the numbers x and y = 1 - x where the integral of (a, b) below x is p.
template <class N, class Result>
PULLBACK_INLINE void invert_beta(BetaLanes<double>& rough, const double* p, Result result) {
  beta_newton<N>(rough, p);
  if constexpr (!kIsWide<N>) {
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const double odds = exp(rough.u[i]);
      result(i, odds / (1.0 + odds), 1.0 / (1.0 + odds));
    }
  } else {
    BetaLanes<N> of;
    LogShare<N> share;
    for (int i = 0; i < kShareLanes; ++i) {
      of.a[i] = rough.a[i];
      of.b[i] = rough.b[i];
      of.u[i] = rough.u[i] == rough.u[i] ? rough.u[i] : 0.0;
    }
    of.set_rests();
    beta_shares<N>(share, of);
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const N gap = log_part(p[i], number<N>(0.0)) - share.log.at(i);
      const double step = share.ratio[i] * leading(gap);
      const bool valid = (magnitude(step) < 1e-4) & (rough.u[i] == rough.u[i]);
      const N x = of.x.at(i), y = of.y.at(i);
      const N change = (valid ? step : kNaN<double>)*(x * y);
      result(i, x + change, y - change);
    }
  }
}

// The x where the integral below (above, if `upper`) is p.
template <class N>
[[gnu::noinline]] void beta_inverse_block(double* out, const double* a, const double* b,
                                          const double* p, bool upper) {
  BetaLanes<double> of;
  double tail[kShareLanes], turned[kShareLanes];
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool small = p[i] <= 0.5, other = small == upper;
    tail[i] = small ? p[i] : 1.0 - p[i];
    of.a[i] = other ? b[i] : a[i];
    of.b[i] = other ? a[i] : b[i];
    turned[i] = other ? 1.0 : 0.0;
  }
  invert_beta<N>(of, tail, [&](int i, N x, N y) {
    const N at = either(turned[i] > 0.0, y, x);
    out[i] = leading(at + 0.0);
  });
}

// Student's distribution: below -|t| it is half of the integral of (n / 2, 1 / 2) below
// n / (n + t^2).
template <class N>
[[gnu::noinline]] void student_inverse_block(double* out, const double* n, const double* p) {
  BetaLanes<double> of;
  double tail[kShareLanes], turned[kShareLanes];
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const double least = p[i] <= 0.5 ? p[i] : 1.0 - p[i], share = 2.0 * least;
    const bool other = share > 0.5;
    tail[i] = other ? 1.0 - share : share;
    of.a[i] = other ? 0.5 : 0.5 * n[i];
    of.b[i] = other ? 0.5 * n[i] : 0.5;
    turned[i] = other ? 1.0 : 0.0;
  }
  invert_beta<N>(of, tail, [&](int i, N x, N y) {
    const bool other = turned[i] > 0.0;
    const N square = n[i] * (either(other, x, y) / either(other, y, x));
    const double size = leading(square_root(square) + 0.0);
    out[i] = p[i] < 0.5 ? -size : size;
  });
}

template <class F>
PULLBACK_INLINE bool is_beta_inverse_block(F a, F b, F p) {
  constexpr F least = F(0x1p-7), most = F(0x1p20);
  constexpr F near = sizeof(F) == 4 ? F(0x1p-126) : F(0x1p-900);
  return (a > least) & (b > least) & (a < most) & (b < most) & (p > near) & (p < F(1));
}
template <class F>
PULLBACK_INLINE bool is_student_inverse_block(F n, F p) {
  constexpr F near = sizeof(F) == 4 ? F(0x1p-126) : F(0x1p-900);
  return (n > F(0x1p-5)) & (n < F(0x1p30)) & (p > near) & (p < F(1)) & (p != F(0.5));
}

// --- gamma: the variable is u = log(x)

// The logarithm of P (`lower`) or Q at x; the ratio is negative for Q. `rests` depends on a only.
template <class N>
[[gnu::noinline]] void gamma_shares(LogShare<N>& out, const double* a, const double* x,
                                    const double* lower, const ShareColumn<N>& rests) {
  GammaPoints<N> points;
  ShareColumn<N> power, sum;
  double upper[kShareLanes], size[kShareLanes], at[kShareLanes], sides[kShareLanes];
  double any_near = 0.0;
  gamma_points(points, a, x);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool near = points.near[i] > 0.0, far = points.far[i] > 0.0, none = near | far;
    power.set(i, -a[i] * points.of.excess.at(i));
    sides[i] = !near & !far & (points.upper[i] > 0.0) ? 1.0 : 0.0;
    upper[i] = near ? (points.eta[i] >= 0.0 ? 1.0 : 0.0) : sides[i];
    size[i] = none ? 1.0 : a[i];
    at[i] = none ? 0x1p-60 : x[i];
    any_near += near ? 1.0 : 0.0;
  }
  gamma_sum<0, N>(sum, size, at, sides);
  ShareColumn<N> log;
  double change[kShareLanes];
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N divisor = square_root(a[i] * number<N>(kTwoPi));
    log.set(i, (power.at(i) - rests.at(i)) + log_of(sum.at(i) / divisor));
    change[i] = leading(sum.at(i)) / a[i];
  }
  if (any_near > 0.0) {
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const bool near = points.near[i] > 0.0;
      const double p = near ? a[i] : kTemmeFrom, e = near ? points.eta[i] : 0.0;
      const double rest = kPerRootTwoPi.high * temme_sum<double>(1.0 / p, e) / __builtin_sqrt(p);
      const double t = magnitude(e) * __builtin_sqrt(0.5 * p);
      const N whole = tail_share(t, number<N>(0.0)) + (e < 0.0 ? -rest : rest);
      const N near_log = power.at(i) + log_of(whole);
      const double stretch = leading(whole) * exp(leading(rests.at(i)));
      log.set_if(near, i, near_log);
      change[i] = near ? stretch * __builtin_sqrt(kTwoPi.high / p) : change[i];
    }
  }
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool same = (upper[i] > 0.0) != (lower[i] > 0.0);
    const N one = number<N>(1.0), direct = log.at(i), part = part_of(one, direct);
    const N rest = one - part;
    const double lost = !same & !(leading(rest) > kLeastPart<N>) ? kNaN<double> : 0.0;
    out.log.set(i, either(same, direct, log_of(either(same, one, rest))) + lost);
    const double ratio = same ? change[i] : change[i] * leading(rest) / leading(part);
    out.ratio[i] = lower[i] > 0.0 ? ratio : -ratio;
  }
}

// The cube of Wilson and Hilferty (1931), or the power law at 0.
PULLBACK_INLINE double gamma_start(double a, double tail, bool lower, double rest) {
  const double log_a = log(a), p = lower ? tail : 1.0 - tail;
  const double log_gamma = (a + 0.5) * log_a - a + 0.9189385332046727 + rest;
  const double power = (log(p) + log_gamma) / a;
  const double z = rough_deviate(tail),
               root = 1.0 - 1.0 / (9.0 * a) + (lower ? -z : z) / (3.0 * __builtin_sqrt(a));
  const double cube = log_a + 3.0 * log(root > 1e-100 ? root : 1e-100);
  return clamped((a >= 1.0) & (root > 0.0) & (cube > power) ? cube : power, -kMostLog, kMostLog);
}

// The x where P (Q, if `above`) is p.
template <class N>
[[gnu::noinline]] void gamma_inverse_block(double* out, const double* a, const double* p,
                                           bool above) {
  LogShare<double> share;
  ShareColumn<double> rough_a, rough_rests;
  double tail[kShareLanes], lower[kShareLanes], x[kShareLanes], live[kShareLanes], any = 1.0;
  for (int i = 0; i < kShareLanes; ++i) rough_a.set(i, a[i]);
  stirling_rests(rough_rests, rough_a);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const bool small = p[i] <= 0.5, is_lower = small != above;
    tail[i] = small ? p[i] : 1.0 - p[i];
    lower[i] = is_lower ? 1.0 : 0.0;
    x[i] = exp(gamma_start(a[i], tail[i], is_lower, rough_rests.at(i)));
    live[i] = 1.0;
  }
  for (int k = 0; any > 0.0 && k < kInverseSteps; ++k) {
    gamma_shares<double>(share, a, x, lower, rough_rests);
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const double ratio = share.ratio[i], bend = a[i] - x[i] - 1.0 / ratio;
      const HalleyStep of = halley_step(log(tail[i]) - share.log.at(i), ratio, bend);
      const double next = x[i] * exp(clamped(of.step, -2.0, 2.0));
      x[i] = live[i] > 0.0 ? (of.step == of.step ? next : of.step) : x[i];
      live[i] = of.size > kLastStep<N> ? live[i] : 0.0;
    }
    any = 0.0;
    for (int i = 0; i < kShareLanes; ++i) any += live[i];
  }
  if constexpr (!kIsWide<N>) {
    for (int i = 0; i < kShareLanes; ++i) out[i] = live[i] > 0.0 ? kNaN<double> : x[i];
  } else {
    LogShare<N> last;
    ShareColumn<N> wide_a, rests;
    for (int i = 0; i < kShareLanes; ++i) wide_a.set(i, number<N>(a[i]));
    stirling_rests(rests, wide_a);
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      live[i] = x[i] == x[i] ? live[i] : 1.0;
      x[i] = live[i] > 0.0 ? a[i] : x[i];
    }
    gamma_shares<N>(last, a, x, lower, rests);
#pragma GCC ivdep
    for (int i = 0; i < kShareLanes; ++i) {
      const N gap = log_part(tail[i], number<N>(0.0)) - last.log.at(i);
      const double step = last.ratio[i] * leading(gap);
      const bool valid = (magnitude(step) < 1e-4) & !(live[i] > 0.0);
      out[i] = valid ? x[i] + x[i] * step : kNaN<double>;
    }
  }
}

template <class F>
PULLBACK_INLINE bool is_gamma_inverse_block(F a, F p) {
  constexpr F near = sizeof(F) == 4 ? F(0x1p-126) : F(0x1p-900);
  return (a > F(0x1p-7)) & (a < F(0x1p40)) & (p > near) & (p < F(1));
}

}  // namespace m
}  // namespace
}  // namespace pullback
