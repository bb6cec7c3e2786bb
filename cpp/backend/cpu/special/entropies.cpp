// x log x and related functions whose terms cancel, and sinc with its derivatives.

#include "backend/cpu/special/entropies.h"

#include "backend/cpu/special/long_double.h"

namespace pullback::special {
namespace {

// log(a / b), from the difference if a and b are close, since the difference is exact.
Real log_of_ratio(Real a, Real b) {
  const Real quotient = a / b;
  return quotient > 0.5L && quotient < 2 ? std::log1p((a - b) / b) : std::log(quotient);
}

// (1 + u) log(1 + u) - u, whose terms cancel to u^2 / 2 near 0.
Real excess(Real u) {
  if (std::fabs(u) > 0.1L) return (1 + u) * std::log1p(u) - u;
  Real sum = 0;
  for (int k = 22; k >= 2; --k) sum = (k % 2 ? -1 : 1) / Real(k * (k - 1)) + u * sum;
  return u * u * sum;
}

}  // namespace

double logit(double p) noexcept {
  const Real odds = p / (1 - Real{p});
  if (!(p >= 0 && p <= 1)) return static_cast<double>(kNaN);
  if (p > 0.25 && p < 0.75)
    return static_cast<double>(std::log1p((2 * Real{p} - 1) / (1 - Real{p})));
  return static_cast<double>(p == 1 ? kInfinity : std::log(odds));
}
double logit_slope(double p) noexcept {
  if (!(p >= 0 && p <= 1)) return static_cast<double>(kNaN);
  return static_cast<double>(1 / std::fabs(Real{p} * (1 - Real{p})));
}

double log_ratio(double a, double b) noexcept {
  if (!(a >= 0 && b >= 0)) return static_cast<double>(kNaN);
  return static_cast<double>(log_of_ratio(std::fabs(Real{a}), std::fabs(Real{b})));
}

double entr(double x) noexcept {
  if (x < 0) return static_cast<double>(-kInfinity);
  return static_cast<double>(x == 0 ? 0 : -x * std::log(Real{x}));
}
double entr_slope(double x) noexcept {
  if (!(x >= 0)) return static_cast<double>(kNaN);
  // 1 / e in two parts
  constexpr Real root = 0.367879441171442321595523770161460867L, e = 2.718281828459045235360287471L;
  constexpr Real root_low = 1.24662564828002125136379e-20L;
  const Real difference = (x - root) - root_low;
  if (std::fabs(difference) < 0.03L) return static_cast<double>(-std::log1p(difference * e));
  return static_cast<double>(-1 - std::log(std::fabs(Real{x})));
}

double rel_entr(double x, double y) noexcept {
  if (x != x || y != y) return static_cast<double>(kNaN);
  if (x == 0 && y >= 0) return 0;
  return static_cast<double>(x > 0 && y > 0 ? x * log_of_ratio(x, y) : kInfinity);
}
double rel_entr_slope(double x, double y) noexcept {
  if (!(x >= 0 && y >= 0)) return static_cast<double>(kNaN);
  return static_cast<double>(1 + log_of_ratio(std::fabs(Real{x}), std::fabs(Real{y})));
}
double kl_div(double x, double y) noexcept {
  if (x != x || y != y) return static_cast<double>(kNaN);
  if (x == 0 && y >= 0) return y;
  if (!(x > 0 && y > 0)) return static_cast<double>(kInfinity);
  const Real u = (Real{x} - y) / y;
  if (std::fabs(u) < 1) return static_cast<double>(y * excess(u));
  return static_cast<double>(x * log_of_ratio(x, y) - x + y);
}

double sinc(double x, double order) noexcept {
  if (x != x || !(order >= 0 && order <= 64)) return static_cast<double>(kNaN);
  if (std::fabs(x) == kInfinity) return 0;
  const int n = static_cast<int>(order);
  const Real t = kPi * x;
  Real power = 1;  // of pi
  for (int k = 0; k < n; ++k) power *= kPi;
  if (n > 0 && std::fabs(t) < 2.5L) {
    // The sum of (-1)^k t^(2k - n) / ((2k + 1) (2k - n)!).
    Real term = n % 2 ? t : 1;
    Real sum = 0;
    for (int k = (n + 1) / 2; k < 80; ++k) {
      sum += (k % 2 ? -term : term) / (2 * k + 1);
      if (std::fabs(term) < kLast * std::fabs(sum)) break;
      term *= t * t / ((2 * k - n + 1) * Real(2 * k - n + 2));
    }
    return static_cast<double>(power * sum);
  }
  if (x == 0) return 1;
  const Real whole = std::rint(Real{x});
  const Real sign = std::fmod(whole, 2) == 0 ? 1 : -1;
  const Real sine = sign * std::sin(kPi * (x - whole)), cosine = sign * std::cos(kPi * (x - whole));
  const Real turns[] = {sine, cosine, -sine, -cosine};
  Real now = sine / t;  // from t f = sin t: t f_k + k f_(k-1) is the k-th derivative of sin t
  for (int k = 1; k <= n; ++k) now = (turns[k % 4] - k * now) / t;
  return static_cast<double>(power * now);
}

}  // namespace pullback::special
