// The incomplete beta integral and its density, with derivatives by a and b, in the arithmetic type
// R of the family (real.h); or in double, for float32 and for first approximations. Start at
// integral_at().
//
// Below the mean, the integral is computed by a continued fraction, or by a power series if a < 1;
// above, it is 1 - that of the other side. Terms that vanish with a or b are kept as factors, since
// the derivatives of a product keep digits that the derivatives of exp(log(...)) lose by
// cancellation.
#pragma once

#include <algorithm>

#include "backend/cpu/special/beta_parts.h"

namespace pullback::special {

constexpr int kSteps = 100000;

// Sums and products stop at relative changes below this one; in double for float32, and for the
// first steps of an inverse.
template <class R>
constexpr R kSettled = sizeof(R) > sizeof(double) ? 64 * kEps<R> : R(1e-12L);

// A point x, with 1 - x and a - (a + b) x. x (or y, if flipped) is exact.
template <class R>
struct Point {
  R x, y, below;
  bool flipped;  // y is the caller's number
};

// Computed from products of float64 numbers in two parts, so the difference is exact where terms
// cancel.
template <class R>
R below_mean(double a, double b, double x) {
  const double p = a * x, q = b * x;
  const R low = R(std::fma(a, x, -p)) + R(std::fma(b, x, -q));
  const R rest = p > q ? (R(a) - p) - q : (R(a) - q) - p;
  return rest - low;
}

template <class R>
Point<R> other_side(const Point<R>& p) {
  return {p.y, p.x, -p.below, !p.flipped};
}
template <class R>
R log_x(const Point<R>& p) {
  return p.flipped && p.x > R(0.5) ? std::log1p(-p.y) : std::log(p.x);
}
template <class R>
R log_y(const Point<R>& p) {
  return log_x(other_side(p));
}

// log(x) - (digamma(a) - digamma(a + b)): the derivative of log(x^a / beta(a, b)) by a.
template <class R>
R slope_by_a(R a, R b, const Point<R>& p) {
  const R difference = -p.below / a;  // x (a + b) / a - 1
  if (a >= kFar && std::fabs(difference) < R(0.5))
    return std::log1p(difference) + log_less_digamma(a) - log_less_digamma(a + b);
  return log_x(p) - polygamma_gap_of(0, a, b);
}

// r - 1 - log(r) for r = x (a + b) / a
template <class R>
R deviation(R a, R b, const Point<R>& p) {
  const R difference = -p.below / a;
  return std::fabs(difference) < R(0.5) ? less_log1p(difference)
                                        : difference - log_x(p) - std::log1p(b / a);
}

// x^a (1 - x)^b / beta(a, b)
template <class R>
R front(R a, R b, const Point<R>& p) {
  if (a >= kFar && b >= kFar) {
    const R down = a * deviation(a, b, p) + b * deviation(b, a, other_side(p));
    const R rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return std::exp(-down - rest) * std::sqrt(a / (2 * kPi<R>)*(b / (a + b)));
  }
  if (a < kFar && b < kFar) {
    const R top = std::pow(p.x, a) * std::pow(p.y, b);
    return top / beta_of(a, b);
  }
  return std::exp(a * log_x(p) + b * log_y(p) - log_beta(a, b));
}
// Orders derivatives by a and b as derivatives by the variables, which are (a, b) or (b, a).
template <class R>
Jet<R> variables(const Jet<R>& a, const Jet<R>& h) {
  return a.a != 0 ? h : Jet<R>(h.f, h.b, h.a, h.bb, h.ab, h.aa);
}

template <class R>
void set_front(R& y, R a, R b, const Point<R>& p) {
  y = front(a, b, p);
}
template <class R>
void set_front(Jet<R>& y, const Jet<R>& a, const Jet<R>& b, const Point<R>& p) {
  const R f = front(a.f, b.f, p), sum = a.f + b.f, both = polygamma_of(1, sum);
  const bool small = b.f < 1;
  const R db = small ? log_y(p) + digamma_of(sum) - digamma_of(1 + b.f)
                     : slope_by_a(b.f, a.f, other_side(p));
  const R dbb = small ? both - polygamma_of(1, 1 + b.f) : -polygamma_gap_of(1, b.f, a.f);
  const R da = slope_by_a(a.f, b.f, p), daa = -polygamma_gap_of(1, a.f, b.f);
  y = exp_of(variables(a, {0, da, db, daa, both, dbb}));
  y = small ? y * Jet<R>(f / b.f) * b : y * Jet<R>(f);
}

template <class R>
void set_below(R& y, R, const Point<R>& p) {
  y = p.below;
}
template <class R>
void set_below(Jet<R>& y, const Jet<R>& a, const Point<R>& p) {
  y = variables(a, {p.below, p.y, -p.x});
}

// True if a further factor changes neither the fraction nor its derivatives significantly. (For an
// integer b the value stops changing long before its derivatives do.)
template <class R>
bool has_converged(R step, R) {
  return std::fabs(step - 1) < kSettled<R>;
}
template <class R>
bool has_converged(const Jet<R>& step, const Jet<R>& h) {
  if (!has_converged(step.f, h.f)) return false;
  const R first = (std::fabs(h.a) + std::fabs(h.b)) / h.f;
  const R second = (std::fabs(h.aa) + std::fabs(h.ab) + std::fabs(h.bb)) / h.f + first * first;
  const R small = kSettled<R>;
  return std::fabs(step.a) + std::fabs(step.b) < small * first &&
         std::fabs(step.aa) + std::fabs(step.ab) + std::fabs(step.bb) < small * second;
}

// The continued fraction of Didonato and Morris (1992), section 9: front times it is the integral.
template <class R, class V>
V fraction(const V& a, const V& b, const V& below, const Point<R>& p) {
  const V x(p.x), one(1), square(p.x * p.x);
  V bottom = (a / (a + one)) * (below + one);
  V c(R(1e30)), d = one / bottom, h = d, two = a + one, over = one / two;
  int last = kSteps;
  for (int k = 1; k < last; ++k) {
    const V n{R(k)}, m = a + n - one, rest = n * (b - n);  // two = a + 2 n - 1
    const V top = (m * over) * ((m + b) * over) * rest * square;
    bottom = n + rest * x * over;
    two = two + V(2);
    over = one / two;
    bottom = bottom + (a + n) * over * (below + one + n * V(1 + p.y));
    d = one / (bottom + top * d);
    c = bottom + top / c;
    const V step = c * d;
    h = h * step;
    if (last == kSteps && has_converged(step, h))
      last = k + (sizeof(V) > sizeof(R) ? k / 3 + 10 : 1);
  }
  return h;
}

// The logarithm of x^a gamma(a + b) / (gamma(a + 1) gamma(b)), which is near 1 for small a.
template <class R>
R exponent(R a, R b, const Point<R>& p) {
  const R next = a < R(0.5) ? a * polynomial(kLogGamma, a) - std::log1p(a) : log_gamma(1 + a);
  return a * log_x(p) + log_gamma_rise(b, a) - next;
}
template <class R>
void set_power(R& y, R a, R b, const Point<R>& p) {
  y = std::exp(exponent(a, b, p));
}
template <class R>
void set_power(Jet<R>& y, const Jet<R>& a, const Jet<R>& b, const Point<R>& p) {
  R f;
  set_power(f, a.f, b.f, p);
  const R sum = a.f + b.f, both = polygamma_of(1, sum);
  const bool small = b.f < 1 && b.f < a.f;
  const R da = log_x(p) + digamma_of(sum) - digamma_of(1 + a.f);
  const R db = small ? digamma_of(sum) - digamma_of(1 + b.f) : -polygamma_gap_of(0, b.f, a.f);
  const R dbb = small ? both - polygamma_of(1, 1 + b.f) : -polygamma_gap_of(1, b.f, a.f);
  y = exp_of(variables(a, {0, da, db, both - polygamma_of(1, 1 + a.f), both, dbb}));
  y = small ? y * Jet<R>(f / b.f) * b : y * Jet<R>(f);
}

// The integrals below x and above it.
template <class V>
struct Sides {
  V below, above;
};

// power (1 + a (1 - b) x / (a + 1) + ...), for a < 1
template <class R, class V>
Sides<V> small_power(const V& a, const V& b, const Point<R>& p) {
  V term(1), sum(0);
  for (int k = 1; k < 2000; ++k) {
    const V n{R(k)};
    term = term * (n - b) * V(p.x / k);
    const V next = term / (a + n);
    sum = sum + next;
    if (is_lost(next, sum)) break;
  }
  V power(0);
  set_power(power, a, b, p);
  const V rest = power * a * sum, below = power + rest;
  V above = V(0) - below;
  if constexpr (sizeof(V) == sizeof(R)) {
    above = -std::expm1(exponent(a, b, p)) - rest;
  }
  return {below, above};
}

// For x <= (a + 1) / (a + b + 2), where everything converges fast. In a jet, only the derivatives
// of `above` are accurate, not its value.
template <class R, class V>
Sides<V> integrals(const V& a, const V& b, const Point<R>& p) {
  if (value_of(a) < 1) return small_power(a, b, p);
  V f(0), below(0);
  set_front(f, a, b, p);
  set_below(below, a, p);
  const V y = f * fraction(a, b, below, p);
  return {y, V(1) - y};
}

// The integral below a point, for 0 < a, b < infinity and 0 < x < 1.
template <class R, class V>
V integral_at(const V& a, const V& b, const Point<R>& p) {
  if (p.below + 1 - 2 * p.x >= 0) return integrals(a, b, p).below;
  return integrals(b, a, other_side(p)).above;
}
template <class R, class V>
V integral_below(const V& a, const V& b, double x) {
  const double size_a = static_cast<double>(value_of(a)), size_b = static_cast<double>(value_of(b));
  return integral_at<R>(a, b, Point<R>{R(x), 1 - R(x), below_mean<R>(size_a, size_b, x), false});
}

// The limit at 0 of a density that is x^(a - 1) times `factor` there.
template <class R>
R end_of_density(R a, R factor) {
  return a < 1 ? kInf<R> : (a == 1 ? factor : 0);
}

template <class R>
R density(R a, R b, const Point<R>& p) {
  if (p.x == 0) return end_of_density(a, b);
  if (p.y == 0) return end_of_density(b, a);
  return front(a, b, p) / p.x / p.y;
}
template <class R>
R density_da(R a, R b, const Point<R>& p) {
  if (p.x == 0) return -end_of_density(a, kInf<R>);
  if (p.y == 0) return end_of_density(b, R(1));
  return front(a, b, p) * slope_by_a(a, b, p) / p.x / p.y;
}
template <class R>
R density_db(R a, R b, const Point<R>& p) {
  return density_da(b, a, other_side(p));
}
template <class R>
R density_dx(R a, R b, const Point<R>& p) {
  if (p.x == 0) {
    if (a == 1) return b == 1 ? 0 : b * (1 - b);
    return a < 1 ? -kInf<R> : end_of_density(a - 1, b * (1 + b));
  }
  if (p.y == 0) return -density_dx(b, a, other_side(p));
  // (a - 1) y - (b - 1) x, which nearly cancels for a = 1 and small x.
  const R slope = a < 2 || b < 2 ? (a - 1) * p.y - (b - 1) * p.x : p.below - 1 + 2 * p.x;
  return front(a, b, p) * (slope / p.x / p.y) / p.x / p.y;
}

}  // namespace pullback::special
