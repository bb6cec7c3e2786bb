// sinc with its derivatives.

#include "backend/cpu/special/entropies.h"

#include "backend/cpu/special/long_double.h"

namespace pullback::special {

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
