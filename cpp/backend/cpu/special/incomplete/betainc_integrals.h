// The integrals of the incomplete beta function, as numbers and jets. Start at integrals().
//
// Below the mean, the integral is computed by a continued fraction, or by a power series if a < 1;
// above, it is 1 - that of the other side. Terms that vanish with a or b are kept as factors, since
// the derivatives of a product keep digits that the derivatives of exp(log(...)) lose by
// cancellation.
#pragma once

#include "backend/cpu/special/beta_parts.h"

namespace pullback::special {
namespace {

using Wide = long double;
constexpr int kSteps = 100000;

// A point x, with 1 - x and a - (a + b) x. x (or y, if flipped) is exact.
struct Point {
  Wide x, y, below;
  bool flipped;  // y is the caller's number
};

Point other_side(const Point& p) { return {p.y, p.x, -p.below, !p.flipped}; }
Wide log_x(const Point& p) {
  return p.flipped && p.x > Wide(0.5) ? std::log1p(-p.y) : std::log(p.x);
}
Wide log_y(const Point& p) { return log_x(other_side(p)); }

// log(x) - (digamma(a) - digamma(a + b)): the derivative of log(x^a / beta(a, b)) by a.
Wide slope_by_a(Wide a, Wide b, const Point& p) {
  const Wide difference = -p.below / a;  // x (a + b) / a - 1
  if (a >= kFar && std::fabs(difference) < Wide(0.5))
    return std::log1p(difference) + log_less_digamma(a) - log_less_digamma(a + b);
  return log_x(p) - polygamma_gap_of(0, a, b);
}

// r - 1 - log(r) for r = x (a + b) / a
Wide deviation(Wide a, Wide b, const Point& p) {
  const Wide difference = -p.below / a;
  return std::fabs(difference) < Wide(0.5) ? less_log1p(difference)
                                           : difference - log_x(p) - std::log1p(b / a);
}

// x^a (1 - x)^b / beta(a, b)
Wide front(Wide a, Wide b, const Point& p) {
  if (a >= kFar && b >= kFar) {
    const Wide down = a * deviation(a, b, p) + b * deviation(b, a, other_side(p));
    const Wide rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return std::exp(-down - rest) * std::sqrt(a / (2 * kPi<Wide>)*(b / (a + b)));
  }
  if (a < kFar && b < kFar) {
    const Wide top = std::pow(p.x, a) * std::pow(p.y, b);
    return top / beta_of(a, b);
  }
  return std::exp(a * log_x(p) + b * log_y(p) - log_beta(a, b));
}
// Orders derivatives by a and b as derivatives by the variables, which are (a, b) or (b, a).
Jet<Wide> variables(const Jet<Wide>& a, const Jet<Wide>& h) {
  return a.a != 0 ? h : Jet<Wide>(h.f, h.b, h.a, h.bb, h.ab, h.aa);
}

void set_front(Wide& y, Wide a, Wide b, const Point& p) { y = front(a, b, p); }
inline void set_front(Jet<Wide>& y, const Jet<Wide>& a, const Jet<Wide>& b, const Point& p) {
  const Wide f = front(a.f, b.f, p), sum = a.f + b.f, both = polygamma_of(1, sum);
  const bool small = b.f < 1;
  const Wide db = small ? log_y(p) + digamma_of(sum) - digamma_of(1 + b.f)
                        : slope_by_a(b.f, a.f, other_side(p));
  const Wide dbb = small ? both - polygamma_of(1, 1 + b.f) : -polygamma_gap_of(1, b.f, a.f);
  const Wide da = slope_by_a(a.f, b.f, p), daa = -polygamma_gap_of(1, a.f, b.f);
  y = exp_of(variables(a, {0, da, db, daa, both, dbb}));
  y = small ? y * Jet<Wide>(f / b.f) * b : y * Jet<Wide>(f);
}

void set_below(Wide& y, Wide, const Point& p) { y = p.below; }
inline void set_below(Jet<Wide>& y, const Jet<Wide>& a, const Point& p) {
  y = variables(a, {p.below, p.y, -p.x});
}

// True if a further factor changes neither the fraction nor its derivatives significantly. (For an
// integer b the value stops changing long before its derivatives do.)
template <class R>
bool has_converged(R step, R) {
  return std::fabs(step - 1) < 64 * kEps<R>;
}
inline bool has_converged(const Jet<Wide>& step, const Jet<Wide>& h) {
  if (!has_converged(step.f, h.f)) return false;
  const Wide first = (std::fabs(h.a) + std::fabs(h.b)) / h.f;
  const Wide second = (std::fabs(h.aa) + std::fabs(h.ab) + std::fabs(h.bb)) / h.f + first * first;
  const Wide small = 64 * kEps<Wide>;
  return std::fabs(step.a) + std::fabs(step.b) < small * first &&
         std::fabs(step.aa) + std::fabs(step.ab) + std::fabs(step.bb) < small * second;
}

// The continued fraction of Didonato and Morris (1992), section 9: front times it is the integral.
template <class V>
V fraction(const V& a, const V& b, const V& below, const Point& p) {
  using R = decltype(value_of(a));
  const V x(static_cast<R>(p.x)), more(static_cast<R>(1 + p.y)), one(1);
  V bottom = (a / (a + one)) * (below + one);
  V c(R(1e30)), d = one / bottom, h = d;
  int last = kSteps;
  for (int k = 1; k < last; ++k) {
    const V n{R(k)}, m = a + n - one, two = m + n;  // two = a + 2 n - 1
    const V top = (m / two) * ((m + b) / two) * n * (b - n) * x * x;
    bottom = n + (n * (b - n) * x) / two + ((a + n) / (two + V(2))) * (below + one + n * more);
    d = one / (bottom + top * d);
    c = bottom + top / c;
    const V step = c * d;
    h = h * step;
    if (last == kSteps && has_converged(step, h)) last = k + k / 3 + 10;
  }
  return h;
}

// The logarithm of x^a gamma(a + b) / (gamma(a + 1) gamma(b)), which is near 1 for small a.
Wide exponent(Wide a, Wide b, const Point& p) {
  const Wide next = a < Wide(0.5) ? a * polynomial(kLogGamma, a) - std::log1p(a) : log_gamma(1 + a);
  return a * log_x(p) + log_gamma_rise(b, a) - next;
}
void set_power(Wide& y, Wide a, Wide b, const Point& p) { y = std::exp(exponent(a, b, p)); }
inline void set_power(Jet<Wide>& y, const Jet<Wide>& a, const Jet<Wide>& b, const Point& p) {
  Wide f;
  set_power(f, a.f, b.f, p);
  const Wide sum = a.f + b.f, both = polygamma_of(1, sum);
  const bool small = b.f < 1 && b.f < a.f;
  const Wide da = log_x(p) + digamma_of(sum) - digamma_of(1 + a.f);
  const Wide db = small ? digamma_of(sum) - digamma_of(1 + b.f) : -polygamma_gap_of(0, b.f, a.f);
  const Wide dbb = small ? both - polygamma_of(1, 1 + b.f) : -polygamma_gap_of(1, b.f, a.f);
  y = exp_of(variables(a, {0, da, db, both - polygamma_of(1, 1 + a.f), both, dbb}));
  y = small ? y * Jet<Wide>(f / b.f) * b : y * Jet<Wide>(f);
}

// The integrals below x and above it.
template <class V>
struct Sides {
  V below, above;
};

// (1 - b) x / (a + 1) + (1 - b) (2 - b) x^2 / (2 (a + 2)) + ...
template <class V>
V beta_series(const V& a, const V& b, const Point& p) {
  using R = decltype(value_of(a));
  V term(1), sum(0);
  for (int k = 1; k < 2000; ++k) {
    const V n{R(k)};
    term = term * (n - b) * V(static_cast<R>(p.x / k));
    const V next = term / (a + n);
    sum = sum + next;
    if (is_lost(next, sum)) break;
  }
  return sum;
}
// power (1 + a (1 - b) x / (a + 1) + ...), for a < 1
template <class V>
Sides<V> small_power(const V& a, const V& b, const Point& p) {
  const V sum = beta_series(a, b, p);
  V power(0);
  set_power(power, a, b, p);
  const V rest = power * a * sum, below = power + rest;
  V above = V(0) - below;
  if constexpr (sizeof(V) == sizeof(Wide)) {
    above = -std::expm1(exponent(a, b, p)) - rest;
  }
  return {below, above};
}

// For x <= (a + 1) / (a + b + 2), where everything converges fast. In a jet, only the derivatives
// of `above` are accurate, not its value.
template <class V>
Sides<V> integrals(const V& a, const V& b, const Point& p) {
  if (value_of(a) < 1) return small_power(a, b, p);
  V f(0), below(0);
  set_front(f, a, b, p);
  set_below(below, a, p);
  const V y = f * fraction(a, b, below, p);
  return {y, V(1) - y};
}

// The integral below a point, for 0 < a, b < infinity and 0 < x < 1.
template <class V>
V integral_at(const V& a, const V& b, const Point& p) {
  if (p.below + 1 - 2 * p.x >= 0) return integrals(a, b, p).below;
  return integrals(b, a, other_side(p)).above;
}

}  // namespace
}  // namespace pullback::special
