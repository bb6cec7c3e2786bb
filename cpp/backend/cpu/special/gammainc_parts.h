// The regularized incomplete gamma functions by series, continued fractions and expansions, in any
// number type; with Jet also their derivatives by a.
//
// P is the lower function, Q = 1 - P the upper. The smaller one is computed: by the power series
// for x < a or small x, by the continued fraction above, by Temme's uniform expansion for large a.
#pragma once

#include <algorithm>

#include "backend/cpu/special/error_functions.h"
#include "backend/cpu/special/gamma.h"
#include "backend/cpu/special/gamma_parts.h"

namespace pullback::special::incomplete_gamma {

constexpr int kLarge = 2000;  // from here on the expansion in 1 / a gives 64 bits

// The value of P or Q, and which of the two it is.
template <class V>
struct Part {
  V value;
  bool lower;
};

// lambda - 1 - log(lambda) for lambda = x / a
template <class R>
R deviation(R a, R x) {
  const R difference = (x - a) / a;
  return difference > R(-0.5) ? less_log1p(difference) : difference - std::log(x / a);
}

// x^a exp(-x) / gamma(a + 1)
template <class R>
R front(R a, R x) {
  if (a < kFar) {
    const R top = std::exp(-x) * std::pow(x, a);
    if (top > 0 || x < 1) return top / gamma_positive(a + 1);
    return std::exp(a * std::log(x) - x - log_gamma_positive(a + 1));
  }
  return std::exp(-a * deviation(a, x) - stirling_rest(a)) / std::sqrt(2 * kPi<R> * a);
}
template <class R>
void set_front(R& y, R a, R x) {
  y = front(a, x);
}
// The derivative of log(front) by a: log(x) - digamma(a + 1).
template <class R>
R front_slope(R a, R x) {
  if (a < kFar) return std::log(x) - digamma_of(a + 1);
  const R difference = (x - a) / a;
  const R ratio = std::fabs(difference) < R(0.5) ? std::log1p(difference) : std::log(x / a);
  return ratio + log_less_digamma(a) - 1 / a;
}
template <class R>
void set_front(Jet<R>& y, const Jet<R>& a, R x) {
  const R f = front(a.f, x), slope = front_slope(a.f, x);
  y = a.of(f, f * slope, f * (slope * slope - polygamma_of(1, a.f + 1)));
}

template <class V, class R>
V power_series(const V& a, R x) {
  V term(1), sum(1), d = a;
  for (int k = 1; k < 20000; ++k) {
    d = d + V(1);
    term = term * (V(x) / d);
    sum = sum + term;
    if (is_lost(term, sum)) break;
  }
  return sum;
}

// True if a further factor changes neither the fraction nor its derivatives significantly; the
// scale of the derivatives of its logarithm is that of h. (For an integer a the value stops
// changing long before its derivatives do.)
template <class R>
bool has_converged(R step, R) {
  return std::fabs(step - 1) < 64 * kEps<R>;
}
template <class R>
bool has_converged(const Jet<R>& step, const Jet<R>& h) {
  return has_converged(step.f, h.f) && std::fabs(step.a) < 64 * kEps<R> * h.f &&
         std::fabs(step.aa) < 64 * kEps<R> * h.f * h.f;
}

// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), by Lentz's method.
template <class V, class R>
V fraction(const V& a, R x) {
  V b = V(x + 1) - a, c(R(1e30)), d = V(1) / b, h = d;
  int last = 20000;
  for (int k = 1; k < last; ++k) {
    const V top = V(R(k)) * (a - V(R(k)));
    b = b + V(2);
    d = V(1) / (b + top * d);
    c = b + top / c;
    const V step = c * d;
    h = h * step;
    if (last == 20000 && has_converged(step, h)) last = k + k / 3 + 10;
  }
  return h;
}

template <class R>
void set_eta(R& eta, R& spread, R& decay, R a, R x) {
  const R phi = deviation(a, x);
  eta = std::copysign(std::sqrt(2 * phi), x - a);
  decay = std::exp(-a * phi);
  spread = std::erfc(std::sqrt(a * phi)) / 2;
}
template <class R>
void set_eta(Jet<R>& eta, Jet<R>& spread, Jet<R>& decay, const Jet<R>& a, R x) {
  set_eta(eta.f, spread.f, decay.f, a.f, x);
  // d eta / d a = -h(eta) / a
  const Jet<R> h = polynomial(kEtaSlope, Jet<R>(eta.f, 1));
  eta.a = -h.f / a.f;
  eta.aa = (h.f / a.f - h.a * eta.a) / a.f;
  const Jet<R> half = a * Jet<R>(R(0.5));
  const R w = std::sqrt(half.f);
  Jet<R> root = eta * half.of(w, 1 / (2 * w), -1 / (4 * w * w * w));
  const R sign = eta.f < 0 ? -1 : 1;
  root = root * Jet<R>(sign);
  const R bell = -decay.f / std::sqrt(kPi<R>);
  spread = root.of(spread.f, bell, -2 * root.f * bell);
  decay = root.of(decay.f, -2 * root.f * decay.f, (4 * root.f * root.f - 2) * decay.f);
}

template <class R>
R inverse_root(R x) {
  return 1 / std::sqrt(x);
}
template <class R>
Jet<R> inverse_root(const Jet<R>& x) {
  const R r = 1 / std::sqrt(x.f);
  return x.of(r, -r / (2 * x.f), 3 * r / (4 * x.f * x.f));
}

// DLMF 8.12.
template <class V, class R>
Part<V> uniform(const V& a, R x) {
  const R size = value_of(a), phi = deviation(size, x);
  const bool lower = x < size;
  if (size * phi > R(sizeof(R) > sizeof(double) ? 11000 : 700) || phi > R(0.4))
    return {V(0), lower};
  V eta(0), spread(0), decay(0);
  set_eta(eta, spread, decay, a, x);
  const V inverse = V(1) / a;
  V sum(0);
  for (size_t k = std::size(kTemme); k-- > 0;) sum = sum * inverse + polynomial(kTemme[k], eta);
  const V rest = decay * inverse_root(V(2 * kPi<R>) * a) * sum;
  return {lower ? spread - rest : spread + rest, lower};
}

// P or Q, whichever is smaller, for 0 < a, x < infinity.
template <class V, class R>
Part<V> smaller(const V& a, R x) {
  const R size = value_of(a);
  if (size >= kLarge) return uniform(a, x);
  V f(0);
  set_front(f, a, x);
  if (x < 2 || x <= size) return {f * power_series(a, x), true};
  return {f * a * fraction(a, x), false};
}

// log(gamma(1 + a)) for a < 1
template <class R>
R log_gamma_next(R a) {
  return a < R(0.5) ? a * polynomial(kLogGamma, a) - std::log1p(a) : log_gamma_positive(1 + a);
}

// Q for small a and x, without cancellation when P is near 1.
template <class R>
R upper_small(R a, R x) {
  R term = 1, sum = 0;
  for (int k = 1; k < 200; ++k) {
    term *= -x / k;
    const R next = term / (a + k);
    sum += next;
    if (is_lost(next, sum)) break;
  }
  const R exponent = a * std::log(x) - log_gamma_next(a);
  return -std::expm1(exponent) - std::exp(exponent) * a * sum;
}

template <class R>
R incomplete(R a, R x, bool lower) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == kInf<R> && x == kInf<R>)) return kNan<R>;
  if (a == 0 || x == kInf<R>) return lower ? 1 : 0;
  if (x == 0 || a == kInf<R>) return lower ? 0 : 1;
  if (!lower && x < 2 && a < 1) return upper_small(a, x);
  const Part<R> part = smaller(a, x);
  return part.lower == lower ? part.value : 1 - part.value;
}

inline bool is_outside(long double a, long double x) {
  return !(a >= 0 && x >= 0) || (a == 0 && x == 0);
}

using Wide = long double;

}  // namespace pullback::special::incomplete_gamma
