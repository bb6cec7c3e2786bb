// The regularized incomplete beta function, with derivatives by a and b. Start at betainc().

#include "backend/cpu/special/error_functions.h"
#include "backend/cpu/special/gamma.h"
#include "backend/cpu/special/incomplete/betainc_integrals.h"

namespace pullback::special {
namespace {

// Computed from products of float64 numbers in two parts, so the difference is exact where terms
// cancel.
Wide below_mean(double a, double b, double x) {
  const double p = a * x, q = b * x;
  const Wide low = Wide(std::fma(a, x, -p)) + Wide(std::fma(b, x, -q));
  const Wide rest = p > q ? (Wide(a) - p) - q : (Wide(a) - q) - p;
  return rest - low;
}

template <class V>
V integral_below(const V& a, const V& b, double x) {
  const double size_a = static_cast<double>(value_of(a)), size_b = static_cast<double>(value_of(b));
  return integral_at(a, b, {x, 1 - Wide(x), below_mean(size_a, size_b, x), false});
}

bool is_undefined(double a, double b, double x) {
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return true;
  return a == b && (a == 0 || a == kInf<double>);
}

double incomplete(double a, double b, double x) {
  if (is_undefined(a, b, x)) return kNan<double>;
  if (x == 0 || x == 1) return x;
  if (a == 0 || b == kInf<double>) return 1;
  if (b == 0 || a == kInf<double>) return 0;
  return static_cast<double>(integral_below<Wide>(a, b, x));
}
double incomplete_above(double a, double b, double x) {
  if (is_undefined(a, b, x) || x == 0 || x == 1 || a == 0 || b == 0 || a + b == kInf<double>)
    return 1 - incomplete(a, b, x);
  const Point p{x, 1 - Wide(x), below_mean(a, b, x), false};
  return static_cast<double>(integral_at<Wide>(b, a, other_side(p)));
}

// For derivatives at a = 0 or b = 0, which are limits.
Wide positive(double a) { return a == 0 ? Wide(1e-1000L) : a; }

double slope(double a, double b, double x, Wide Jet<Wide>::* part) {
  if (is_undefined(a, b, x)) return kNan<double>;
  if (x == 0 || x == 1 || a == kInf<double> || b == kInf<double>) return 0;
  const Jet<Wide> y = integral_below(Jet<Wide>(positive(a), 1), Jet<Wide>(positive(b), 0, 1), x);
  return static_cast<double>(y.*part);
}

// The limit at 0 of a density that is x^(a - 1) times `factor` there.
Wide end_of_density(Wide a, Wide factor) { return a < 1 ? kInf<Wide> : (a == 1 ? factor : 0); }

Wide density(Wide a, Wide b, const Point& p) {
  if (p.x == 0) return end_of_density(a, b);
  if (p.y == 0) return end_of_density(b, a);
  return front(a, b, p) / p.x / p.y;
}
Wide density_da(Wide a, Wide b, const Point& p) {
  if (p.x == 0) return -end_of_density(a, kInf<Wide>);
  if (p.y == 0) return end_of_density(b, 1);
  return front(a, b, p) * slope_by_a(a, b, p) / p.x / p.y;
}
Wide density_db(Wide a, Wide b, const Point& p) { return density_da(b, a, other_side(p)); }
Wide density_dx(Wide a, Wide b, const Point& p) {
  if (p.x == 0) {
    if (a == 1) return b == 1 ? 0 : b * (1 - b);
    return a < 1 ? -kInf<Wide> : end_of_density(a - 1, b * (1 + b));
  }
  if (p.y == 0) return -density_dx(b, a, other_side(p));
  // (a - 1) y - (b - 1) x, which nearly cancels for a = 1 and small x.
  const Wide slope = a < 2 || b < 2 ? (a - 1) * p.y - (b - 1) * p.x : p.below - 1 + 2 * p.x;
  return front(a, b, p) * (slope / p.x / p.y) / p.x / p.y;
}

double at_point(double a, double b, double x, Wide (*value)(Wide, Wide, const Point&)) {
  if (is_undefined(a, b, x)) return kNan<double>;
  if (a == kInf<double> || b == kInf<double>) return 0;
  const Point p{x, 1 - Wide(x), below_mean(a, b, x), false};
  return static_cast<double>(value(positive(a), positive(b), p));
}

// Student's distribution with n degrees of freedom: below -|x| it is half the incomplete beta
// integral below n / (n + x^2) with parameters n / 2 and 1 / 2.
Point student_point(Wide n, Wide square) {
  const Wide all = n + square;
  return {n / all, square / all, n * (square - 1) / (2 * all), square < n};
}
bool is_student(double n, double x) { return n > 0 && !std::isnan(x); }

double student(double n, double x) {
  if (!is_student(n, x)) return kNan<double>;
  if (n == kInf<double>) return ndtr(x);
  if (x == 0) return 0.5;
  if (std::isinf(x)) return x > 0;
  const Point p = student_point(n, Wide(x) * x);
  const Wide tail = integral_at<Wide>(Wide(n) / 2, Wide(0.5), p) / 2;
  return static_cast<double>(x > 0 ? 1 - tail : tail);
}

double student_slope(double n, double x, bool second) {
  if (!is_student(n, x)) return kNan<double>;
  if (x == 0 || std::isinf(x) || n == kInf<double>) return 0;
  const Wide square = Wide(x) * x, all = n + square, a = Wide(n) / 2, b = 0.5;
  const Point p = student_point(n, square);
  const Jet<Wide> share = integral_at(Jet<Wide>(a, 1), Jet<Wide>(b), p);
  const Wide move = square / all / all, height = density(a, b, p);
  const Wide first = share.a / 2 + height * move;
  const Wide bent = share.aa / 4 + density_da(a, b, p) * move + density_dx(a, b, p) * move * move -
                    2 * height * (move / all);
  const Wide slope = (second ? bent : first) / 2;
  return static_cast<double>(x > 0 ? -slope : slope);
}
double student_first(double n, double x) { return student_slope(n, x, false); }
double student_second(double n, double x) { return student_slope(n, x, true); }

double student_height(double n, double x) {
  if (!is_student(n, x)) return kNan<double>;
  const Wide square = Wide(x) * x;
  if (n == kInf<double>)
    return static_cast<double>(std::exp(-square / 2) / std::sqrt(2 * kPi<Wide>));
  if (std::isinf(x)) return 0;
  const Wide down = (Wide(n) + 1) / 2 * std::log1p(square / n);
  return static_cast<double>(std::exp(-down - log_beta(Wide(n) / 2, Wide(0.5))) /
                             std::sqrt(Wide(n)));
}

}  // namespace

#define PULLBACK_SINGLE(name)                                         \
  float name(float a, float b, float c) {                             \
    return static_cast<float>(name(double{a}, double{b}, double{c})); \
  }
#define PULLBACK_SLOPE(name, part)                                                       \
  double name(double a, double b, double c) { return slope(a, b, c, &Jet<Wide>::part); } \
  PULLBACK_SINGLE(name)
#define PULLBACK_DENSITY(name, value)                                            \
  double name(double a, double b, double c) { return at_point(a, b, c, value); } \
  PULLBACK_SINGLE(name)

double betainc(double a, double b, double c) { return incomplete(a, b, c); }
PULLBACK_SINGLE(betainc)
PULLBACK_SLOPE(betainc_da, a)
PULLBACK_SLOPE(betainc_db, b)
PULLBACK_SLOPE(betainc_daa, aa)
PULLBACK_SLOPE(betainc_dab, ab)
PULLBACK_SLOPE(betainc_dbb, bb)
PULLBACK_DENSITY(beta_density, density)
PULLBACK_DENSITY(beta_density_da, density_da)
PULLBACK_DENSITY(beta_density_db, density_db)
PULLBACK_DENSITY(beta_density_dx, density_dx)

double betaincc(double a, double b, double c) { return incomplete_above(a, b, c); }
PULLBACK_SINGLE(betaincc)

#define PULLBACK_STUDENT(name, value)                     \
  double name(double a, double b) { return value(a, b); } \
  float name(float a, float b) { return static_cast<float>(value(a, b)); }
PULLBACK_STUDENT(stdtr, student)
PULLBACK_STUDENT(stdtr_da, student_first)
PULLBACK_STUDENT(stdtr_daa, student_second)
PULLBACK_STUDENT(student_density, student_height)

}  // namespace pullback::special
