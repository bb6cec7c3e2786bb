// The scaled complementary error function with its derivatives, and the normal distribution with
// its inverse.

#include "backend/cpu/special/error_functions.h"

#include "backend/cpu/special/error_function_tables.h"
#include "backend/cpu/special/long_double.h"

namespace pullback::special {
namespace {

// exp(-scale x^2) with all digits of x^2; `scale` may be negative.
Real gauss(Real x, Real scale) {
  x = std::fabs(x);
  if (x > 300) return scale > 0 ? 0 : kInfinity;
  const Real head = static_cast<float>(x);
  return std::exp(-scale * head * head) * std::exp(-scale * (x - head) * (x + head));
}

// exp(t^2) erfc(t) for t >= 0.
Real scaled_erfc(Real t) {
  if (t > 1e25L) return 1 / (kSqrtPi * t);
  return polynomial((t - 3) / (t + 3), kErfcx) / (1 + 2 * t);
}

// The repeated integrals of erfc (DLMF 7.18) times exp(t^2), each divided by the one before: a
// continued fraction for t >= 2.
Real ratio(Real t, int order) {
  const int terms = static_cast<int>(300 / (t * t)) + 20;
  Real r = 0;
  for (int n = order + terms; n >= order; --n) r = 1 / (2 * t + 2 * (n + 1) * r);
  return r;
}

// (-1)^order times the derivative of exp(t^2) erfc(t): DLMF 7.18.3, 7.18.7.
Real erfcx_derivative(Real t, int order) {
  if (t >= 2 && order > 0) {
    Real product = 2 / kSqrtPi * ratio(t, 0);
    for (int n = 1; n <= order; ++n) product *= 2 * n * ratio(t, n);
    return product;
  }
  Real now = t >= 0 ? scaled_erfc(t) : 2 * gauss(t, -1) - scaled_erfc(-t);
  Real before = 0;
  for (int n = 1; n <= order; ++n) {
    const Real next = (n == 1 ? 2 / kSqrtPi : 2 * (n - 1) * before) - 2 * t * now;
    before = now;
    now = next;
  }
  return now;
}

Real centre(Real x) { return x * polynomial(8 * x * x - 1, kCentre); }

Real tail(Real q) {
  if (q == 0) return kInfinity;
  const Real s = std::sqrt(-std::log(q));
  if (s < 2) return polynomial((s - 1.40625L) / 0.59375L, kTail0);
  if (s < 4.5L) return polynomial((s - 3.25L) / 1.25L, kTail1);
  if (s < 10) return polynomial((s - 7.25L) / 2.75L, kTail2);
  return polynomial((s - 18.75L) / 8.75L, kTail3);
}

}  // namespace

double erfcx(double x, double order) noexcept {
  if (!(order >= 0 && order <= 64)) return static_cast<double>(kNaN);
  const int n = static_cast<int>(order);
  if (x != x) return x;
  const Real size = x < -300 ? kInfinity : erfcx_derivative(x, n);
  return static_cast<double>(n % 2 ? -size : size);
}

double ndtr(double x) noexcept {
  if (x != x) return x;
  const Real small = gauss(x, 0.5L) * scaled_erfc(std::fabs(x) / kSqrt2) / 2;
  return static_cast<double>(x < 0 ? small : 1 - small);
}
double ndtri(double p) noexcept {
  if (!(p >= 0 && p <= 1)) return static_cast<double>(kNaN);
  if (p <= 0.25) return static_cast<double>(-kSqrt2 * tail(2 * Real{p}));
  return static_cast<double>(kSqrt2 * (p < 0.75 ? centre(2 * Real{p} - 1) : tail(2 - 2 * Real{p})));
}

}  // namespace pullback::special
