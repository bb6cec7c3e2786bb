// The zeta functions of Hurwitz and Riemann, with derivatives by s.

#include "backend/cpu/special/gamma.h"
#include "backend/cpu/special/gamma_parts.h"

namespace pullback::special {
namespace {

using Wide = long double;

// q^-s
template <class R>
R power_of(R q, R s) {
  return std::pow(q, -s);
}
template <class R>
Jet<R> power_of(R q, const Jet<R>& s) {
  const R p = std::pow(q, -s.f), slope = -std::log(q);
  return s.of(p, slope * p, slope * slope * p);
}

// Euler-Maclaurin summation, for q > 0 and s > -1 except 1.
template <class V, class R>
V hurwitz_sum(const V& s, R q) {
  const R far = kFar + std::fmin(std::fmax(value_of(s), R(0)), R(1e6));
  V sum(0);
  R u = q;
  while (u < far) {
    const V term = power_of(u, s);
    sum = sum + term;
    if (value_of(s) > 2 && is_lost(term * V(u), sum)) return sum;
    u += 1;
  }
  const R r = 1 / u;
  const V first = power_of(u, s);
  V rising = s * V(r), tail(R(0.5));
  for (size_t k = 0; k < std::size(kEulerMaclaurin); ++k) {
    const V term = V(static_cast<R>(kEulerMaclaurin[k])) * rising;
    tail = tail + term;
    if (is_lost(term, tail)) break;
    rising = rising * ((s + V(2 * R(k) + 1)) * V(r)) * ((s + V(2 * R(k) + 2)) * V(r));
  }
  return sum + first * (V(u) / (s - V(1)) + tail);
}

template <class R>
R sine_half(R s) {
  return sin_pi(s / 2);
}
template <class R>
Jet<R> sine_half(const Jet<R>& s) {
  const R wave = sin_pi(s.f / 2), half = kPi<R> / 2;
  return s.of(wave, half * cos_pi(s.f / 2), -half * half * wave);
}
template <class R>
R gamma_at(R x) {
  return gamma_positive(x);
}
template <class R>
Jet<R> gamma_at(const Jet<R>& x) {
  R derivative[3] = {gamma_positive(x.f)};
  bell(2, R(1), x.f, derivative);
  return x.of(derivative[0], derivative[1], derivative[2]);
}

// Riemann's for s < 0, by the functional equation.
template <class V, class R>
V reflected(const V& s, R) {
  const V other = V(1) - s;
  const V scale = V(2) * power_of(2 * kPi<R>, other);
  return scale * sine_half(s) * gamma_at(other) * hurwitz_sum(other, R(1));
}

template <class V>
V zeta_of(const V& s, Wide q) {
  const Wide value = value_of(s);
  if (std::isnan(value) || std::isnan(q)) return V(kNan<Wide>);
  if (value == 1) return V(kInf<Wide>);
  if (value < 1 && q != 1) return V(kNan<Wide>);
  if (value == -kInf<Wide>) return V(kNan<Wide>);
  if (value < -1700) {  // beyond every float, except near the roots
    const Wide wave = sin_pi(value / 2);
    return V(wave == 0 ? 0 : std::copysign(kInf<Wide>, wave));
  }
  if (value < -Wide(0.5)) return reflected(s, Wide(1));
  if (q <= 0) {
    if (is_pole(q)) return V(kInf<Wide>);
    if (value != std::floor(value) || value > 1e6) return V(kNan<Wide>);
    return V(hurwitz_any(static_cast<int>(value), q));
  }
  if (q == kInf<Wide>) return V(0);
  if (value == kInf<Wide>) return V(q > 1 ? 0 : (q == 1 ? 1 : value));
  return hurwitz_sum(s, q);
}

Wide slope_by_q(Wide s, Wide q) { return -s * zeta_of<Wide>(s + 1, q); }

// The derivative by s. For q < 0 only integer s have values, so there is no derivative.
Wide slope(Wide s, Wide q, Wide Jet<Wide>::* part) {
  if (s == kInf<Wide> && q >= 1) return 0;
  if (q <= 0 || !(s > -1700 && s < kInf<Wide>)) return kNan<Wide>;
  const Jet<Wide> y = zeta_of(Jet<Wide>(s, 1), q);
  return std::fabs(y.f) < kInf<Wide> ? y.*part : kNan<Wide>;
}

}  // namespace

double zeta(double a, double b) { return static_cast<double>(zeta_of<Wide>(a, b)); }
float zeta(float a, float b) { return static_cast<float>(zeta_of<Wide>(a, b)); }

double zeta_dq(double a, double b) { return static_cast<double>(slope_by_q(a, b)); }
float zeta_dq(float a, float b) { return static_cast<float>(slope_by_q(a, b)); }

double zeta_ds(double a, double b) { return static_cast<double>(slope(a, b, &Jet<Wide>::a)); }
float zeta_ds(float a, float b) { return static_cast<float>(slope(a, b, &Jet<Wide>::a)); }
double zeta_dss(double a, double b) { return static_cast<double>(slope(a, b, &Jet<Wide>::aa)); }
float zeta_dss(float a, float b) { return static_cast<float>(slope(a, b, &Jet<Wide>::aa)); }

}  // namespace pullback::special
