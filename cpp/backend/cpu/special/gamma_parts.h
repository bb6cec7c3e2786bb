// log(gamma), gamma, digamma and polygamma, in the arithmetic type R of the family (real.h). Below
// kFar they are reduced by the recurrence, above it computed by asymptotic series.
#pragma once

#include "backend/cpu/special/gamma_tables.h"
#include "backend/cpu/special/real.h"

namespace pullback::special {

constexpr int kFar = 12;  // from here on asymptotic series give 64 bits

template <class R>
bool is_pole(R x) {
  return x <= 0 && std::floor(x) == x;
}

// log(gamma(x)) - ((x - 1/2) log(x) - x + log(2 pi) / 2) for x >= kFar
template <class R>
R stirling_rest(R x) {
  const R r = 1 / x;
  return r * polynomial(kStirling, r * r);
}
// log(x) - digamma(x) for x > 0
template <class R>
R log_less_digamma(R x) {
  R rise = 0, u = x;
  while (u < kFar) {
    rise += 1 / u;
    u += 1;
  }
  const R r = 1 / u, square = r * r;
  const R rest = r / 2 + square * polynomial(kDigammaFar, square);
  return rise == 0 ? rest : rest + rise - std::log(u / x);
}

template <class R>
R log_gamma_positive(R x) {
  constexpr R kHalfLog2Pi = static_cast<R>(0.918938533204672741780329736405617640L);
  if (x == kInf<R>) return x;
  if (x >= kFar) return (x - R(0.5)) * (std::log(x) - 1) - R(0.5) + kHalfLog2Pi + stirling_rest(x);
  if (x < R(0.5)) return x * polynomial(kLogGamma, x) - std::log1p(x) - std::log(x);
  if (x < R(1.5)) {
    const R z = x - 1;
    return z * polynomial(kLogGamma, z) - std::log1p(z);
  }
  R product = 1;
  while (x > R(2.5)) {
    x -= 1;
    product *= x;
  }
  const R w = x - 2;
  const R rest = w * polynomial(kLogGamma, w);
  return product == 1 ? rest : rest + std::log(product);
}
template <class R>
R log_gamma(R x) {
  if (!(x < 0)) return x == 0 ? kInf<R> : log_gamma_positive(x);
  if (x == -kInf<R>) return x;
  if (is_pole(x)) return kInf<R>;
  return -std::log(std::fabs(sin_pi(x)) / kPi<R>) - log_gamma_positive(1 - x);
}

template <class R>
R gamma_positive(R x) {
  if (x < kFar) {
    R product = 1;
    while (x > R(2.5)) {
      x -= 1;
      product *= x;
    }
    R divisor = 1;
    while (x < R(1.5)) {
      divisor *= x;
      x += 1;
    }
    const R w = x - 2;
    return product * std::exp(w * polynomial(kLogGamma, w)) / divisor;
  }
  constexpr R kRoot2Pi = static_cast<R>(2.50662827463100050241576528481104525L);
  if (x > (sizeof(R) > sizeof(double) ? 1800 : 180)) return kInf<R>;
  const R half = std::pow(x, (x - R(0.5)) / 2);
  return kRoot2Pi * half * std::exp(stirling_rest(x) - x) * half;
}
template <class R>
R gamma_of(R x) {
  if (x >= R(0.5)) return gamma_positive(x);
  if (x == 0) return 1 / x;
  if (!(x > -kInf<R>) || is_pole(x)) return kNan<R>;
  return kPi<R> / (sin_pi(x) * gamma_positive(1 - x));
}
template <class R>
R reciprocal_gamma(R x) {
  if (x >= R(0.5)) return 1 / gamma_positive(x);
  if (x == 0) return x;
  if (x == -kInf<R> || is_pole(x)) return 0;
  return sin_pi(x) * gamma_positive(1 - x) / kPi<R>;
}
// For gamma(x) at an x that is not a pole.
template <class R>
int gamma_sign(R x) {
  return x < 0 && std::fmod(std::floor(x), R(2)) != 0 ? -1 : 1;
}

template <class R>
R digamma_of(R x) {
  if (x <= 0) {
    if (x == 0) return -1 / x;
    if (is_pole(x)) return kNan<R>;
    return digamma_of(1 - x) - kPi<R> * cos_pi(x) / sin_pi(x);
  }
  if (x == kInf<R>) return x;
  const R h = (x - static_cast<R>(kDigammaRoot[0])) - static_cast<R>(kDigammaRoot[1]);
  if (std::fabs(h) <= R(0.25)) return h * polynomial(kDigamma, h);
  R below = 0;
  while (x < kFar) {
    below += 1 / x;
    x += 1;
  }
  return std::log(x) - log_less_digamma(x) - below;
}

// q^s zeta(s, q) for q > 0 and an integer s >= 2, by Euler-Maclaurin summation.
template <class R>
R scaled_hurwitz(int s, R q) {
  const R far = kFar + R(s) / 2;
  R sum = 0, u = q;
  while (u < far) {
    const R term = power(q / u, s);
    sum += term;
    if (is_lost(term * u, sum)) return sum;
    u += 1;
  }
  const R r = 1 / u;
  R rising = s * r, tail = 0;
  for (size_t k = 0; k < std::size(kEulerMaclaurin); ++k) {
    const R term = static_cast<R>(kEulerMaclaurin[k]) * rising;
    tail += term;
    if (is_lost(term, tail)) break;
    const R m = s + 2 * R(k);
    rising *= (m + 1) * r * ((m + 2) * r);
  }
  return sum + power(q * r, s) * (u / R(s - 1) + R(0.5) + tail);
}
template <class R>
R hurwitz(int s, R q) {
  return power(1 / q, s) * scaled_hurwitz(s, q);
}
// Also for q < 0: the terms on each side of 0 are one sum each.
template <class R>
R hurwitz_any(int s, R q) {
  if (q > 0) return hurwitz(s, q);
  const R below = -q - std::floor(-q), above = q - std::floor(q);
  if (s % 2 && below == above) return hurwitz(s, 1 - q);  // between two poles they cancel
  const R other = hurwitz(s, below) - hurwitz(s, 1 - q);
  return hurwitz(s, above) + (s % 2 ? -other : other);
}
// The derivative of digamma of order n >= 1.
template <class R>
R polygamma_of(int n, R x) {
  if (std::isnan(x) || x == -kInf<R>) return kNan<R>;
  const R sign = n % 2 ? 1 : -1;
  if (is_pole(x)) return sign * kInf<R>;
  if (x == kInf<R>) return sign * 0;
  if (n > 300 && x > 0) {  // x^-(n+1) alone may leave the range
    const R size = log_gamma(R(n) + 1) - (n + 1) * std::log(x);
    return sign * std::exp(size) * scaled_hurwitz(n + 1, x);
  }
  R factorial = 1;
  for (int k = 2; k <= n; ++k) factorial *= k;
  return sign * factorial * hurwitz_any(n + 1, x);
}
template <class R>
R polygamma_any(int n, R x) {
  return n == 0 ? digamma_of(x) : polygamma_of(n, x);
}

// The derivatives of exp(sign * log(gamma)) up to order n, from the value and polygammas.
template <class R>
void bell(int n, R sign, R x, R* derivative) {
  for (int m = 1; m <= n; ++m) {
    R sum = 0, choose = 1;  // m - 1 over k
    for (int k = m - 1, j = 0; j < m; --k, ++j) {
      sum += choose * derivative[k] * sign * polygamma_any(j, x);
      choose = choose * k / (j + 1);
    }
    derivative[m] = sum;
  }
}

// The integral of f from 0 to d, for an f that changes little.
template <class R, class Function>
R integral(R d, Function f) {
  R sum = 0;
  for (size_t k = 0; k < std::size(kNodes); ++k)
    sum += static_cast<R>(kWeights[k]) * f(d * static_cast<R>(kNodes[k]));
  return d * sum;
}
// log(gamma(x + d)) - log(gamma(x)) for x, d > 0.
template <class R>
R log_gamma_rise(R x, R d) {
  if (d < x / 16) return integral(d, [&](R t) { return digamma_of(x + t); });
  return log_gamma(x + d) - log_gamma(x);
}
// polygamma(n, x) - polygamma(n, x + d)
template <class R>
R polygamma_gap_of(int n, R x, R d) {
  if (x > 0 && std::fabs(d) < x / 16)
    return -integral(d, [&](R t) { return polygamma_of(n + 1, x + t); });
  if (n == 0 && x >= kFar && d > 0)
    return log_less_digamma(x + d) - log_less_digamma(x) - std::log1p(d / x);
  return polygamma_any(n, x) - polygamma_any(n, x + d);
}

}  // namespace pullback::special
