// Bessel functions of the first and second kind, of integer orders, and their derivatives.

#include <utility>

#include "backend/cpu/special/bessel.h"
#include "backend/cpu/special/long_double.h"

namespace pullback::special {
namespace {

constexpr Real kFar = 25;  // Hankel's expansion has all digits from here on
constexpr Real kEuler = 0.577215664901532860606512090082402431L;
constexpr Real kMostSteps = 1 << 20;  // steps of a recurrence: NaN for larger orders

// J and Y of orders 0 and 1, and J of a further order.
struct Start {
  Real j0, j1, jn, y0, y1;
};

// J_n by downward recurrence from an order where it is negligible (Miller), normalised by J_0 + 2
// J_2 + 2 J_4 + … = 1. Y by its series of J (DLMF 10.23.15 and 10.23.16 for order 0, Abramowitz and
// Stegun 9.1.88 for order 1).
Start downward(Real x, int n) {
  const Real most = x > n ? x : n;
  const int first = 2 * static_cast<int>((most + 24 + 12 * std::cbrt(most)) / 2);
  Start out{};
  Real above = 0, now = 1, total = 0, even = 0, odd = 0;
  for (int k = first; k > 0; --k) {
    const int half = k / 2;
    if (k == n) out.jn = now;
    if (k % 2 == 0) {
      total += 2 * now;
      even += (half % 2 ? -now : now) / half;
    } else if (k > 1) {
      odd += (half % 2 ? -now : now) * k / (Real(half) * (half + 1));
    } else {
      out.j1 = now;
    }
    const Real below = 2 * k / x * now - above;
    above = now;
    now = below;
    if (std::fabs(now) > 1e2000L) {
      for (Real* sum : {&above, &now, &total, &even, &odd, &out.jn, &out.j1}) *sum *= 1e-2000L;
    }
  }
  total += now;
  out.j0 = now / total;
  out.j1 /= total;
  out.jn = n == 0 ? out.j0 : out.jn / total;
  const Real log = std::log(x / 2) + kEuler;
  out.y0 = 2 / kPi * (log * out.j0 - 2 * (even / total));
  out.y1 = 2 / kPi * ((log - 1) * out.j1 - odd / total - out.j0 / x);
  return out;
}

// P and Q of DLMF 10.17.3.
std::pair<Real, Real> phase_parts(int v, Real x) {
  Real p = 1, q = 0, term = 1;
  for (int k = 1; k < 100; ++k) {
    const Real odd = 2 * k - 1;
    const Real next = term * (4 * v * v - odd * odd) / (8 * k * x);
    if (std::fabs(next) < kLast) break;
    term = next;
    const Real signed_term = k / 2 % 2 ? -term : term;
    (k % 2 ? q : p) += signed_term;
  }
  return {p, q};
}

// Both functions for x >= kFar. The angle x - (v/2 + 1/4) pi is never computed: its sine and cosine
// are sums of the sine and cosine of x.
Start far(Real x) {
  const Real s = std::sin(x), c = std::cos(x);
  const Real size = 1 / std::sqrt(kPi * x);
  const auto [p0, q0] = phase_parts(0, x);
  const auto [p1, q1] = phase_parts(1, x);
  Start out{};
  out.j0 = size * (p0 * (c + s) - q0 * (s - c));
  out.y0 = size * (p0 * (s - c) + q0 * (c + s));
  out.j1 = size * (p1 * (s - c) + q1 * (s + c));
  out.y1 = size * (q1 * (s - c) - p1 * (s + c));
  return out;
}

// DLMF 10.2.2, for x where its terms decrease from the start.
Real series(int n, Real x) {
  const Real z = x * x / 4;
  if (n > 1700) return 0;
  Real term = std::pow(x / 2, Real(n)) / std::tgamma(Real(n) + 1);
  Real sum = 0;
  for (int k = 0; k < 200; ++k) {
    sum += term;
    if (std::fabs(term) <= kLast * std::fabs(sum)) break;
    term *= -z / ((k + 1) * Real(k + 1 + n));
  }
  return sum;
}

Real first_kind(int n, Real x) {
  if (x == kInfinity) return 0;
  if (x * x < 4 * Real(n + 1)) return series(n, x);
  // J_n is below (e x / 2 n)^n.
  if (n > x && n * std::log(1.3591409142295226L * x / n) < -800) return 0;
  if (x < kFar) return downward(x, n).jn;
  const Start at = far(x);
  if (n > x) {
    const Start shape = downward(x, n);
    return std::fabs(at.j0) > std::fabs(at.j1) ? shape.jn / shape.j0 * at.j0
                                               : shape.jn / shape.j1 * at.j1;
  }
  Real before = at.j0, now = at.j1;
  if (n == 0) return before;
  for (int k = 1; k < n; ++k) before = std::exchange(now, 2 * k / x * now - before);
  return now;
}

Real second_kind(int n, Real x) {
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return 0;
  const Start at = x < kFar ? downward(x, 0) : far(x);
  Real before = at.y0, now = at.y1;
  if (n == 0) return before;
  for (int k = 1; k < n; ++k) {
    before = std::exchange(now, 2 * k / x * now - before);
    if (now < -1e4000L) return -kInfinity;
  }
  return now;
}

bool is_order(double order) {
  const Real size = std::fabs(Real{order});
  return size <= kMostSteps && size == std::rint(size);
}
bool is_odd(double order) { return std::fmod(std::fabs(Real{order}), 2) != 0; }

Real first_kind_of(double order, double x) {
  const Real y = first_kind(static_cast<int>(std::fabs(order)), std::fabs(Real{x}));
  return is_odd(order) && (order < 0) != (x < 0) ? -y : y;
}

Real second_kind_of(double order, double x) {
  const Real y = second_kind(static_cast<int>(std::fabs(order)), x);
  return order < 0 && is_odd(order) ? -y : y;
}

// The `times`-th derivative of J or Y: DLMF 10.6.7. Where its terms cancel, the additional digits
// of long double remain.
template <class F>
Real derivative(F f, double order, double x, int times) {
  Real sum = 0, choose = 1;
  for (int k = 0; k <= times; ++k) {
    sum += choose * f(order - times + 2 * k, x);
    choose *= -Real(times - k) / (k + 1);
  }
  return std::ldexp(sum, -times);
}

}  // namespace

double jn(double order, double x, double times) noexcept {
  if (x != x || !is_order(order) || !(times >= 0 && times <= 64)) return static_cast<double>(kNaN);
  return static_cast<double>(derivative(first_kind_of, order, x, static_cast<int>(times)));
}

double yn(double order, double x, double times) noexcept {
  if (!(x >= 0) || !is_order(order) || !(times >= 0 && times <= 64)) {
    return static_cast<double>(kNaN);
  }
  if (x == 0) {
    const bool up = (order < 0 && is_odd(order)) != is_odd(times);
    return static_cast<double>(up ? kInfinity : -kInfinity);
  }
  return static_cast<double>(derivative(second_kind_of, order, x, static_cast<int>(times)));
}

}  // namespace pullback::special
