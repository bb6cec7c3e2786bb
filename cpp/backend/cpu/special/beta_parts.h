// The beta function and its logarithm, in the arithmetic type R of the family (real.h).
#pragma once

#include "backend/cpu/special/gamma_parts.h"

namespace pullback::special {

// For a >= b > 0, with a large or infinite. The large terms have one sign.
template <class R>
R log_beta_far(R a, R b) {
  if (a == kInf<R>) return -kInf<R>;
  constexpr R kHalfLog2Pi = static_cast<R>(0.918938533204672741780329736405617640L);
  const R rest = stirling_rest(a) - stirling_rest(a + b);
  const R ratio = b / a, rise = (a - R(0.5)) * std::log1p(ratio);
  if (b >= kFar) {
    const R share = -std::log1p(a / b);  // log(b / (a + b))
    return b * share - rise + kHalfLog2Pi - std::log(b) / 2 + stirling_rest(b) + rest;
  }
  // b - a log1p(b / a), without cancellation
  const R bend = a * less_log1p(ratio) + std::log1p(ratio) / 2;
  return log_gamma_positive(b) - b * std::log(a + b) + bend + rest;
}

// For an integer a <= 0: gamma(b) may have a pole where gamma(a + b) has one.
template <class R>
bool meets_pole(R a, R b) {
  return std::floor(b) == b && 1 - a - b > 0;
}

template <class R>
R log_beta(R a, R b) {
  if (std::isnan(a) || std::isnan(b)) return kNan<R>;
  if (a < b) std::swap(a, b);
  if (b > 0) {
    if (a >= kFar) return log_beta_far(a, b);
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  }
  for (const R pole : {b, a}) {
    const R other = pole == b ? a : b;
    if (is_pole(pole)) return meets_pole(pole, other) ? log_beta(1 - pole - other, other) : kInf<R>;
  }
  if (b == -kInf<R>) return kNan<R>;
  if (is_pole(a + b)) return -kInf<R>;
  if (a + b > 0) return log_gamma(b) + log_gamma_rise(a + b, -b);
  return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

template <class R>
R beta_of(R a, R b) {
  if (std::isnan(a) || std::isnan(b)) return kNan<R>;
  if (a < b) std::swap(a, b);
  if (b > 0) {
    if (a >= kFar) return std::exp(log_beta_far(a, b));
    return gamma_of(a) * (gamma_of(b) * reciprocal_gamma(a + b));
  }
  for (const R pole : {b, a}) {
    const R other = pole == b ? a : b;
    if (!is_pole(pole)) continue;
    if (!meets_pole(pole, other)) return std::copysign(kInf<R>, pole == 0 ? pole : R(1));
    const R size = beta_of(1 - pole - other, other);
    return std::fmod(other, R(2)) != 0 ? -size : size;
  }
  if (b == -kInf<R>) return kNan<R>;
  if (is_pole(a + b)) return 0;
  constexpr R kProducts = sizeof(R) > sizeof(double) ? 800 : 80;
  if (a < kProducts && b > -kProducts) return gamma_of(a) * (gamma_of(b) * reciprocal_gamma(a + b));
  const int sign = gamma_sign(a) * gamma_sign(b) * gamma_sign(a + b);
  return sign * std::exp(log_beta(a, b));
}

}  // namespace pullback::special
