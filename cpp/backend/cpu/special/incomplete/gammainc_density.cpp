// The derivative of the regularized incomplete gamma function P by x and the derivative of that, in
// double arithmetic.

#include "backend/cpu/kernels/gammainc_front.h"
#include "backend/cpu/special/gamma.h"

namespace pullback::special {
namespace {

constexpr double kInfinite = m::kInfinity<double>;
constexpr double kTiny = 0x1p-500, kLift = 0x1p600;  // smaller factors are scaled by kLift
constexpr int kLiftBits = 600;

bool is_outside(double a, double x) { return !(a >= 0 && x >= 0) || (a == 0 && x == 0); }

// y a for any a >= 0
ScaledTwo times(const ScaledTwo& y, double a) {
  const bool tiny = a < kTiny;
  return {m::product(tiny ? a * kLift : a, y.y), y.shifted - (tiny ? kLiftBits : 0)};
}
// y b / x for any x > 0
ScaledTwo times_ratio(const ScaledTwo& y, TwoPart b, double x) {
  const bool tiny = x < kTiny;
  const TwoPart ratio = m::quotient(b, {tiny ? x * kLift : x, 0.0});
  return {m::product(y.y, ratio), y.shifted + (tiny ? kLiftBits : 0)};
}

double density(double a, double x) {
  if (is_outside(a, x)) return m::kNaN<double>;
  if (x == kInfinite) return a == x ? m::kNaN<double> : 0;
  if (a == kInfinite || a == 0) return 0;
  if (x == 0) return a < 1 ? kInfinite : (a == 1 ? 1 : 0);
  if (a > kEndless || x > kEndless) return a == x ? m::kPerRootTwoPi.high / __builtin_sqrt(a) : 0;
  return m::rounded(times(front<1>(a, x), a));
}

double density_dx(double a, double x) {
  if (is_outside(a, x)) return m::kNaN<double>;
  if (x == kInfinite || a == kInfinite) return a == x ? m::kNaN<double> : 0;
  if (x == 0) return a > 2 ? 0 : (a == 2 ? 1 : (a > 1 ? kInfinite : (a == 1 ? -1 : -kInfinite)));
  if (a > kEndless || x > kEndless)
    return a == x ? -m::kPerRootTwoPi.high / __builtin_sqrt(a) / a : 0;
  // For a < 1 the power a - 2 of x may leave the range of exp() although a times it does not.
  const TwoPart gap = sum_of(m::two_sum(a, -x), {-1.0, 0.0});
  if (a < 1) return m::rounded(times_ratio(times(front<1>(a, x), a), gap, x));
  const ScaledTwo y = times(front<2>(a, x), a);
  return m::rounded({m::product(y.y, gap), y.shifted});
}

}  // namespace

double gamma_density(double a, double x) { return density(a, x); }
float gamma_density(float a, float x) { return static_cast<float>(density(a, x)); }
double gamma_density_dx(double a, double x) { return density_dx(a, x); }
float gamma_density_dx(float a, float x) { return static_cast<float>(density_dx(a, x)); }

}  // namespace pullback::special
