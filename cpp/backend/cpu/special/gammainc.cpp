// Derivatives of the regularized incomplete gamma functions by a, their logarithms and inverses.
// The values and the derivatives by x are in the folder incomplete.

#include "backend/cpu/special/gammainc_parts.h"

namespace pullback::special {
namespace {

using namespace incomplete_gamma;

// Computed in long double for float32 too: for large a, x^a leaves the range of
// double.
Wide density_da(Wide a, Wide x) {
  if (is_outside(a, x)) return kNan<Wide>;
  if (x == kInf<Wide> || a == kInf<Wide>) return a == x ? kNan<Wide> : 0;
  if (x == 0) return a > 1 ? 0 : -kInf<Wide>;
  return front(a, x) * (1 + a * front_slope(a, x)) / x;
}

// The derivative of P by a, of first or second order.
template <class R>
R by_a(R a, R x, int order) {
  if (is_outside(a, x)) return kNan<R>;
  if (x == 0 || x == kInf<R> || a == kInf<R>) return a == x ? kNan<R> : 0;
  const Part<Jet<R>> part = smaller(Jet<R>(a, 1), x);
  const R slope = order == 1 ? part.value.a : part.value.aa;
  return part.lower ? slope : -slope;
}

// --- logarithms and the inverse

Wide log_front(Wide a, Wide x) {
  if (a < kFar) return a * std::log(x) - x - log_gamma_positive(a + 1);
  return -a * deviation(a, x) - stirling_rest(a) - std::log(2 * kPi<Wide> * a) / 2;
}
Jet<Wide> log_of(const Jet<Wide>& y) { return y.of(std::log(y.f), 1 / y.f, -1 / (y.f * y.f)); }

// The logarithm of P or Q with its derivatives by a, as a jet. It is not limited to the front's
// range.
struct LogShare {
  Jet<Wide> log;
  Wide dx;
};

// For 0 < a, x < infinity.
LogShare log_inside(Wide a, Wide x, bool lower) {
  const Jet<Wide> size(a, 1);
  bool below = x < 2 || x <= a;
  LogShare y{Jet<Wide>(0), 0};
  const Jet<Wide> near = a < kLarge ? Jet<Wide>(0) : uniform(size, x).value;
  if (near.f > 0) {
    below = x < a;
    y = {log_of(near), front(a, x) * (a / x) / near.f};
  } else {
    const Jet<Wide> rest = below ? power_series(size, x) : size * fraction(size, x);
    const Jet<Wide> first(log_front(a, x), front_slope(a, x), 0, -polygamma_of(1, a + 1));
    y = {first + log_of(rest), a / x / rest.f};
  }
  if (below != lower) {
    const Wide f = std::exp(y.log.f);
    const bool small = !lower && x < 2 && a < 1;
    const Wide other = small ? upper_small(a, x) : 1 - f, odds = f / other;
    y.log = y.log.of(small ? std::log(other) : std::log1p(-f), -odds, -odds * (1 + odds));
    y.dx *= odds;
  }
  if (!lower) y.dx = -y.dx;
  return y;
}

LogShare log_share(Wide a, Wide x, bool lower) {
  const Wide share = incomplete(a, x, lower);
  if (std::isnan(share)) return {Jet<Wide>(share, share, 0, share), share};
  if (a == 0 || x == 0 || a == kInf<Wide> || x == kInf<Wide>) {
    const bool rises = lower && x == 0;
    return {Jet<Wide>(std::log(share), rises ? -kInf<Wide> : 0), rises ? kInf<Wide> : 0};
  }
  return log_inside(a, x, lower);
}

// The x where P is p and Q is q = 1 - p. Newton's method on the logarithm of the smaller one; it is
// concave in log(x), so the iteration converges from any start. The start is the power law at 0,
// which is below, or the cube of Wilson and Hilferty (1931).
Wide inverse(Wide a, Wide p, Wide q) {
  if (!(a >= 0 && p >= 0 && q >= 0) || a == kInf<Wide>) return kNan<Wide>;
  if (p == 0 || a == 0) return 0;
  if (q == 0) return kInf<Wide>;
  const bool lower = p <= q;
  const Wide target = std::log(std::min(p, q));
  Wide u = (std::log(p) + log_gamma_positive(a + 1)) / a;
  if (u < -800) return 0;
  if (a >= 1) {
    const Wide z = lower ? ndtri(static_cast<double>(p)) : -ndtri(static_cast<double>(q));
    const Wide root = 1 - 1 / (9 * a) + z / (3 * std::sqrt(a));
    if (root > 0) u = std::max(u, std::log(a) + 3 * std::log(root));
  }
  for (int k = 0; k < 100; ++k) {
    const Wide x = std::exp(u), share = incomplete(a, x, lower);
    Wide log = std::log(share), slope = front(a, x) * a / share;
    if (!(share > Wide(1e-4000L))) {
      const LogShare far = log_share(a, x, lower);
      log = far.log.f;
      slope = std::fabs(far.dx) * x;
    }
    const Wide step = (lower ? target - log : log - target) / slope;
    u += std::clamp(step, Wide(-2), Wide(2));
    if (!(std::fabs(step) > Wide(1e-12))) break;
  }
  return std::exp(u);
}

}  // namespace

double gammainc_da(double a, double b) { return static_cast<double>(by_a<Wide>(a, b, 1)); }
float gammainc_da(float a, float b) { return static_cast<float>(by_a<Wide>(a, b, 1)); }
double gammainc_daa(double a, double b) { return static_cast<double>(by_a<Wide>(a, b, 2)); }
float gammainc_daa(float a, float b) { return static_cast<float>(by_a<Wide>(a, b, 2)); }

double gamma_density_da(double a, double b) { return static_cast<double>(density_da(Wide{a}, b)); }
float gamma_density_da(float a, float b) { return static_cast<float>(density_da(Wide{a}, b)); }

#define PULLBACK_LOG(name, part)                             \
  double log_gammainc##name(double a, double b) {            \
    return static_cast<double>(log_share(a, b, true).part);  \
  }                                                          \
  float log_gammainc##name(float a, float b) {               \
    return static_cast<float>(log_share(a, b, true).part);   \
  }                                                          \
  double log_gammaincc##name(double a, double b) {           \
    return static_cast<double>(log_share(a, b, false).part); \
  }                                                          \
  float log_gammaincc##name(float a, float b) {              \
    return static_cast<float>(log_share(a, b, false).part);  \
  }
PULLBACK_LOG(, log.f)
PULLBACK_LOG(_da, log.a)
PULLBACK_LOG(_daa, log.aa)
PULLBACK_LOG(_dx, dx)
#undef PULLBACK_LOG

double gammaincinv(double a, double b) { return static_cast<double>(inverse(a, b, 1 - Wide(b))); }
float gammaincinv(float a, float b) { return static_cast<float>(inverse(a, b, 1 - Wide(b))); }
double gammainccinv(double a, double b) { return static_cast<double>(inverse(a, 1 - Wide(b), b)); }
float gammainccinv(float a, float b) { return static_cast<float>(inverse(a, 1 - Wide(b), b)); }

}  // namespace pullback::special
