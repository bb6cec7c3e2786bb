// The regularized incomplete beta function, its derivatives and its inverses. float32 is computed
// in double. Start at incomplete().

#include "backend/cpu/special/betainc_parts.h"
#include "backend/cpu/special/error_functions.h"
#include "backend/cpu/special/gamma.h"

namespace pullback::special {
namespace {

bool is_undefined(double a, double b, double x) {
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return true;
  return a == b && (a == 0 || a == kInf<double>);
}

template <class R>
double incomplete(double a, double b, double x) {
  if (is_undefined(a, b, x)) return kNan<double>;
  if (x == 0 || x == 1) return x;
  if (a == 0 || b == kInf<double>) return 1;
  if (b == 0 || a == kInf<double>) return 0;
  return static_cast<double>(integral_below<R, R>(a, b, x));
}
template <class R>
double incomplete_above(double a, double b, double x) {
  if (is_undefined(a, b, x) || x == 0 || x == 1 || a == 0 || b == 0 || a + b == kInf<double>)
    return 1 - incomplete<R>(a, b, x);
  const Point<R> p{R(x), 1 - R(x), below_mean<R>(a, b, x), false};
  return static_cast<double>(integral_at<R, R>(b, a, other_side(p)));
}

// For derivatives at a = 0 or b = 0, which are limits.
template <class R>
constexpr R kTiny = sizeof(R) > sizeof(double) ? R(1e-1000L) : R(1e-300L);
template <class R>
R positive(double a) {
  return a == 0 ? kTiny<R> : R(a);
}

template <class R>
double slope(double a, double b, double x, R Jet<R>::* part) {
  if (is_undefined(a, b, x)) return kNan<double>;
  if (x == 0 || x == 1 || a == kInf<double> || b == kInf<double>) return 0;
  const Jet<R> y = integral_below<R>(Jet<R>(positive<R>(a), 1), Jet<R>(positive<R>(b), 0, 1), x);
  return static_cast<double>(y.*part);
}

template <class R>
double at_point(double a, double b, double x, R (*value)(R, R, const Point<R>&)) {
  if (is_undefined(a, b, x)) return kNan<double>;
  if (a == kInf<double> || b == kInf<double>) return 0;
  const Point<R> p{R(x), 1 - R(x), below_mean<R>(a, b, x), false};
  return static_cast<double>(value(positive<R>(a), positive<R>(b), p));
}

}  // namespace

#define PULLBACK_BETA(name, value)                                                  \
  double name(double a, double b, double c) { return value<long double>(a, b, c); } \
  float name(float a, float b, float c) { return static_cast<float>(value<double>(a, b, c)); }
#define PULLBACK_SLOPE(name, part)                                                              \
  double name(double a, double b, double c) { return slope(a, b, c, &Jet<long double>::part); } \
  float name(float a, float b, float c) {                                                       \
    return static_cast<float>(slope(a, b, c, &Jet<double>::part));                              \
  }
#define PULLBACK_DENSITY(name, value)                                                         \
  double name(double a, double b, double c) { return at_point<long double>(a, b, c, value); } \
  float name(float a, float b, float c) {                                                     \
    return static_cast<float>(at_point<double>(a, b, c, value));                              \
  }

PULLBACK_BETA(betainc, incomplete)
PULLBACK_BETA(betaincc, incomplete_above)
PULLBACK_SLOPE(betainc_da, a)
PULLBACK_SLOPE(betainc_db, b)
PULLBACK_SLOPE(betainc_daa, aa)
PULLBACK_SLOPE(betainc_dab, ab)
PULLBACK_SLOPE(betainc_dbb, bb)
PULLBACK_DENSITY(beta_density, density)
PULLBACK_DENSITY(beta_density_da, density_da)
PULLBACK_DENSITY(beta_density_db, density_db)
PULLBACK_DENSITY(beta_density_dx, density_dx)

}  // namespace pullback::special
