// The inverses of the incomplete beta function and of Student's distribution. Start at
// inverse_logit().

#include <algorithm>

#include "backend/cpu/special/error_functions.h"
#include "backend/cpu/special/gamma.h"
#include "backend/cpu/special/incomplete/betainc_integrals.h"

namespace pullback::special {
namespace {

// A step of the inverse: the logarithm of the integral below u = log(x / (1 - x)), its derivative
// by u and the second derivative divided by the first.
struct Share {
  Wide log, slope, bend;
};
Share share_at(Wide a, Wide b, Wide u) {
  const Wide odds = std::exp(u), x = odds / (1 + odds), y = 1 / (1 + odds);
  const Point at{x, y, a * y - b * x, x > y};
  const Wide share = integral_at<Wide>(a, b, at), slope = front(a, b, at);
  if (!(share > 0 && slope > 0)) return {kNan<Wide>, 0, 0};  // outside of the range of numbers
  return {std::log(share), slope / share, at.below - slope / share};
}
// The same in double, which may be wrong in the last digits.
Share rough_share(double a, double b, double log_beta, double u) {
  const double odds = std::exp(-std::fabs(u)), small = odds / (1 + odds), large = 1 / (1 + odds);
  const double log_large = -std::log1p(odds), log_small = log_large - std::fabs(u);
  const double log_x = u < 0 ? log_small : log_large, log_y = u < 0 ? log_large : log_small;
  const Point at{u < 0 ? small : large, u < 0 ? large : small,
                 u < 0 ? a * large - b * small : a * small - b * large, u > 0};
  const bool above = at.below + 1 - 2 * at.x < 0;
  const Point p = above ? other_side(at) : at;
  const double first = above ? b : a, second = above ? a : b, log_first = above ? log_y : log_x;
  const double slope = std::exp(a * log_x + b * log_y - log_beta);
  double share;
  if (first < 1) {
    const double power = std::exp(first * log_first - log_beta) / first;
    share = power * (1 + first * beta_series<double>(first, second, p));
  } else {
    share = slope * fraction<double>(first, second, static_cast<double>(p.below), p);
  }
  if (above) share = 1 - share;
  if (!(share > 0 && slope > 0)) return {kNan<Wide>, 0, 0};
  return {std::log(share), slope / share, at.below - slope / share};
}
// Newton's step, or Halley's near the solution, where its error is of the third order.
Wide step_of(const Share& at, Wide target, Wide u) {
  const Wide newton = (target - at.log) / at.slope, most = 4 + std::fabs(u);
  const Wide half = newton * at.bend / 2;
  return std::clamp(std::fabs(half) < Wide(0.25) ? newton / (1 + half) : newton, -most, most);
}

// log(x / (1 - x)) for the x with integral p below and q = 1 - p above. Newton's method on the
// logarithm of the smaller one; it is concave in this variable, so the iteration converges from any
// start. The start is from Abramowitz and Stegun (1964) 26.5.22, or the power law at 0.
Wide inverse_logit(Wide a, Wide b, Wide p, Wide q) {
  if (p > q) return -inverse_logit(b, a, q, p);
  if (p == 0) return -kInf<Wide>;
  const Wide target = std::log(p);
  Wide u = std::log(a / b);
  if (a > 1 && b > 1) {
    const Wide y = -ndtri(static_cast<double>(p)), bend = (y * y - 3) / 6;
    const Wide ra = 1 / (2 * a - 1), rb = 1 / (2 * b - 1), h = 2 / (ra + rb);
    const Wide root = y * std::sqrt(std::max(h + bend, Wide(0))) / h;
    u -= 2 * (root - (rb - ra) * (bend + Wide(5) / 6 - 2 / (3 * h)));
  } else {
    const Wide x = (target + std::log(a) + log_beta(a, b)) / a;
    if (x < -800) return x;
    if (x < Wide(-0.7)) u = x - std::log1p(-std::exp(x));
  }
  const double size_a = static_cast<double>(a), size_b = static_cast<double>(b);
  const double scale = log_beta(size_a, size_b);
  for (int k = 0; k < 100; ++k) {
    const Share at = rough_share(size_a, size_b, scale, static_cast<double>(u));
    if (std::isnan(at.log)) break;
    const Wide step = step_of(at, target, u);
    u += step;
    if (!(std::fabs(step) > Wide(1e-6))) break;
  }
  Wide last = u;
  for (int k = 0; k < 200; ++k) {
    const Share at = share_at(a, b, u);
    if (std::isnan(at.log)) {
      u = k == 0 ? std::log(a / b) : (u + last) / 2;
      continue;
    }
    last = u;
    const Wide step = step_of(at, target, u), size = std::fabs(step);
    u += step;
    const Wide error = size * size * size * (at.bend * at.bend + a + b);
    if (!(size > Wide(1e-12)) || (size < Wide(1e-3) && error < Wide(1e-20))) break;
  }
  return u;
}

bool is_share(Wide p) { return p >= 0 && p <= 1; }

double inverse(double a, double b, Wide p, Wide q) {
  if (!(a > 0 && b > 0 && a + b < kInf<double> && is_share(p))) return kNan<double>;
  if (p == 0 || q == 0) return p == 0 ? 0 : 1;
  return static_cast<double>(1 / (1 + std::exp(-inverse_logit(a, b, p, q))));
}

double student_inverse(double n, double p) {
  if (!(n > 0 && is_share(p))) return kNan<double>;
  if (n == kInf<double>) return ndtri(p);
  if (p == 0 || p == 1) return p == 0 ? -kInf<double> : kInf<double>;
  const Wide share = 2 * std::min(Wide(p), 1 - Wide(p));
  const Wide u = inverse_logit(Wide(n) / 2, Wide(0.5), share, 1 - share);
  const double x = static_cast<double>(std::sqrt(Wide(n)) * std::exp(-u / 2));
  return p < 0.5 ? -x : x;
}

}  // namespace

double betaincinv(double a, double b, double c) { return inverse(a, b, c, 1 - Wide(c)); }
float betaincinv(float a, float b, float c) {
  return static_cast<float>(betaincinv(double{a}, double{b}, double{c}));
}
double betainccinv(double a, double b, double c) { return inverse(a, b, 1 - Wide(c), c); }
float betainccinv(float a, float b, float c) {
  return static_cast<float>(betainccinv(double{a}, double{b}, double{c}));
}
double stdtrit(double a, double b) { return student_inverse(a, b); }
float stdtrit(float a, float b) { return static_cast<float>(student_inverse(a, b)); }

}  // namespace pullback::special
