// Modified Bessel functions of the first kind, of any real order.

#include <array>

#include "backend/cpu/special/bessel.h"
#include "backend/cpu/special/debye.h"
#include "backend/cpu/special/long_double.h"

// Everywhere below, x >= 0 and the function is w(x) = exp(-x) I_v(x). The power series is used up
// to kNear. Above, Hankel's expansion is used if its terms decrease from the start (v^2 <= 2 x).
// Otherwise Debye's expansion is used for orders from kLarge on, and a recurrence from there for
// smaller orders.

namespace pullback::special {
namespace {

constexpr Real kNear = 25;
constexpr Real kLarge = 60;
constexpr int kDebye = 20;

// The polynomials u_k of DLMF 10.41.9, each computed from the one before. For even k they have even
// powers only, so half of the coefficients are 0.
struct DebyeTable {
  Real of[kDebye][3 * kDebye + 1];
};
constexpr DebyeTable debye_table() {
  DebyeTable table{};
  table.of[0][0] = 1;
  for (int k = 0; k + 1 < kDebye; ++k) {
    for (int j = k; j <= 3 * k; ++j) {
      const Real c = table.of[k][j];
      table.of[k + 1][j + 1] += c * (Real(j) / 2 + 1 / (8 * Real(j + 1)));
      table.of[k + 1][j + 3] -= c * (Real(j) / 2 + 5 / (8 * Real(j + 3)));
    }
  }
  return table;
}
constexpr DebyeTable kDebyeTable = debye_table();

// DLMF 10.41.3.
Real debye(Real v, Real x) {
  const Real z = x / v;
  const Real root = std::hypot(1, z);
  const Real p = 1 / root;
  Real sum = 0;
  for (int k = kDebye - 1; k >= 0; --k) {
    Real u = 0;
    for (int j = 3 * k; j >= k; j -= 2) u = u * p * p + kDebyeTable.of[k][j];
    sum = sum / v + u * std::pow(p, Real(k));
  }
  const Real exponent = v * (1 / (root + z) - std::asinh(1 / z));
  return std::exp(exponent) / std::sqrt(2 * kPi * v * root) * sum;
}

// K_v by the trapezoidal rule, which converges fast since the integrand decays at both ends: DLMF
// 10.32.9. Needed only for negative orders that are not integers.
Real bessel_k_scaled(Real v, Real x) {
  constexpr Real step = 0x1p-5L;
  // The largest term is at x sinh(t) = v. If it is below the range of every dtype, the sum is 0.
  if (v * std::asinh(v / x) - std::hypot(v, x) - x < -11000) return 0;
  Real sum = std::exp(-2 * x) / 2;  // times exp(-x) at the end
  for (int n = 1; n < 100000; ++n) {
    const Real t = n * step;
    const Real exponent = -x * std::cosh(t) - x;
    const Real term = (std::exp(exponent + v * t) + std::exp(exponent - v * t)) / 2;
    sum += term;
    if (x * std::sinh(t) > v && term < kLast * sum) break;
  }
  return sum * step;
}

// DLMF 10.25.2 without its factor exp(x).
Real series(Real v, Real x) {
  const Real z = x * x / 4;
  Real term = std::pow(x / 2, v) / std::tgamma(v + 1) * std::exp(-x);
  Real sum = 0;
  for (int k = 0; k < 1000; ++k) {
    sum += term;
    if (std::fabs(term) < kLast * std::fabs(sum) && k > -v) break;
    term *= z / ((k + 1) * (k + 1 + v));
  }
  return sum;
}

// DLMF 10.40.1, differentiated term by term.
Real hankel(Real v, Real x, int times) {
  Real term = 1, sum = 0, last = kInfinity;
  for (int k = 0; k < 200; ++k) {
    Real slope = term;
    for (int n = 0; n < times; ++n) slope *= -(k + 0.5L + n) / x;
    if (k > x && std::fabs(slope) > last) break;  // they grow after the smallest term
    sum += slope;
    last = std::fabs(slope);
    if (last < kLast * std::fabs(sum)) break;
    const Real odd = 2 * k + 1;
    term *= -(4 * v * v - odd * odd) / (8 * (k + 1) * x);
    if (term == 0) break;
  }
  return sum / std::sqrt(2 * kPi * x);
}

Real scaled_i(Real v, Real x);

Real value(Real v, Real x) {
  if (x == 0) return v == 0 ? 1 : 0;
  if (v >= kLarge) return debye(v, x);
  if (x < kNear) return series(v, x);
  if (v * v <= 2 * x) return hankel(v, x, 0);
  const int steps = static_cast<int>(std::ceil(kLarge - v));
  Real above = debye(v + steps + 1, x), now = debye(v + steps, x);
  for (int k = steps; k > 0; --k) {
    const Real below = 2 * (v + k) / x * now + above;
    above = now;
    now = below;
  }
  return now;
}

// Any order: DLMF 10.27.1 and 10.27.2.
Real scaled_i(Real v, Real x) {
  if (v >= 0) return value(v, x);
  if (v == std::rint(v)) return value(-v, x);
  if (x < 1) return x == 0 ? std::copysign(kInfinity, std::tgamma(v + 1)) : series(v, x);
  return value(-v, x) - 2 / kPi * std::sin(kPi * std::fmod(v, 2)) * bessel_k_scaled(-v, x);
}

Real choose(int n, int k) {
  Real c = 1;
  for (int j = 1; j <= k; ++j) c = c * (n - k + j) / j;
  return c;
}

// The derivative of I itself, times exp(-x): DLMF 10.29.5. No terms cancel if v >= times.
Real derivative_of_i(Real v, Real x, int times) {
  Real sum = 0;
  for (int k = 0; k <= times; ++k) sum += choose(times, k) * scaled_i(v - times + 2 * k, x);
  return std::ldexp(sum, -times);
}

Real derivative(Real v, Real x, int times) {
  if (times == 0) return scaled_i(v, x);
  if (x >= kNear && v * v <= 2 * x) return hankel(v, x, times);
  if (x == 0 || times > 2 || v < 0) {
    Real sum = 0;
    for (int k = 0; k <= times; ++k) {
      sum += ((times - k) % 2 ? -1 : 1) * choose(times, k) * derivative_of_i(v, x, k);
    }
    return sum;
  }
  const Real now = value(v, x), above = value(v + 1, x);
  const Real slope = above + v / x * now;
  if (times == 1) return slope - now;
  const Real second = now * (1 + v * (v - 1) / (x * x)) - above / x;
  return second - 2 * slope + now;
}

}  // namespace

double iv(double order, double x) noexcept {
  const bool whole = order == std::rint(order);
  if (!(std::fabs(order) < kInfinity) || x != x || (x < 0 && !whole)) {
    return static_cast<double>(kNaN);
  }
  const Real size = std::fabs(Real{x});
  if (size == kInfinity) {
    return static_cast<double>(x < 0 && std::fmod(order, 2) != 0 ? -kInfinity : kInfinity);
  }
  const double v = whole ? std::fabs(order) : order, far = std::fabs(x);
  if (v >= 0 && is_far_i(v, far)) {
    const double y = far_i(v, far, false);
    return x < 0 && std::fmod(order, 2) != 0 ? -y : y;
  }
  const Real y = scaled_i(order, size);
  // exp as two factors, so that none overflows if the product does not
  const Real out = y == 0 ? y : y * std::exp(size / 2) * std::exp(size / 2);
  return static_cast<double>(x < 0 && std::fmod(order, 2) != 0 ? -out : out);
}

double ive(double order, double x, double times) noexcept {
  const bool whole = order == std::rint(order);
  if (!(std::fabs(order) < kInfinity) || x != x || (x < 0 && !whole) || !(times >= 0) ||
      times > 64) {
    return static_cast<double>(kNaN);
  }
  const int n = static_cast<int>(times);
  const Real size = std::fabs(Real{x});
  if (size == kInfinity) return 0;
  const bool odd = whole && std::fmod(std::fabs(order) + n, 2) != 0;
  if (x == 0 && odd) return 0;
  const double v = whole ? std::fabs(order) : order, far = std::fabs(x);
  if (n == 0 && v >= 0 && is_far_i(v, far)) return (x < 0 && odd ? -1 : 1) * far_i(v, far, true);
  const Real y = derivative(v, size, n);
  return static_cast<double>(x < 0 && odd ? -y : y);
}

}  // namespace pullback::special
