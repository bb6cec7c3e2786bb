// The regularized incomplete beta function, with derivatives by a and b. Start at betainc().
//
// Below the mean, the integral is computed by a continued fraction, or by a power series if a < 1;
// above, it is 1 - that of the other side. Terms that vanish with a or b are kept as factors, since
// the derivatives of a product keep digits that the derivatives of exp(log(...)) lose by
// cancellation.

#include <algorithm>

#include "backend/cpu/special/beta_parts.h"
#include "backend/cpu/special/error_functions.h"
#include "backend/cpu/special/gamma.h"

namespace pullback::special {
namespace {

using Wide = long double;
constexpr int kSteps = 100000;

// A point x, with 1 - x and a - (a + b) x. x (or y, if flipped) is exact.
struct Point {
  Wide x, y, below;
  bool flipped;  // y is the caller's number
};

// Computed from products of float64 numbers in two parts, so the difference is exact where terms
// cancel.
Wide below_mean(double a, double b, double x) {
  const double p = a * x, q = b * x;
  const Wide low = Wide(std::fma(a, x, -p)) + Wide(std::fma(b, x, -q));
  const Wide rest = p > q ? (Wide(a) - p) - q : (Wide(a) - q) - p;
  return rest - low;
}

Point other_side(const Point& p) { return {p.y, p.x, -p.below, !p.flipped}; }
Wide log_x(const Point& p) {
  return p.flipped && p.x > Wide(0.5) ? std::log1p(-p.y) : std::log(p.x);
}
Wide log_y(const Point& p) { return log_x(other_side(p)); }

// log(x) - (digamma(a) - digamma(a + b)): the derivative of log(x^a / beta(a, b)) by a.
Wide slope_by_a(Wide a, Wide b, const Point& p) {
  const Wide difference = -p.below / a;  // x (a + b) / a - 1
  if (a >= kFar && std::fabs(difference) < Wide(0.5))
    return std::log1p(difference) + log_less_digamma(a) - log_less_digamma(a + b);
  return log_x(p) - polygamma_gap_of(0, a, b);
}

// r - 1 - log(r) for r = x (a + b) / a
Wide deviation(Wide a, Wide b, const Point& p) {
  const Wide difference = -p.below / a;
  return std::fabs(difference) < Wide(0.5) ? less_log1p(difference)
                                           : difference - log_x(p) - std::log1p(b / a);
}

// x^a (1 - x)^b / beta(a, b)
Wide front(Wide a, Wide b, const Point& p) {
  if (a >= kFar && b >= kFar) {
    const Wide down = a * deviation(a, b, p) + b * deviation(b, a, other_side(p));
    const Wide rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return std::exp(-down - rest) * std::sqrt(a / (2 * kPi<Wide>)*(b / (a + b)));
  }
  if (a < kFar && b < kFar) {
    const Wide top = std::pow(p.x, a) * std::pow(p.y, b);
    return top / beta_of(a, b);
  }
  return std::exp(a * log_x(p) + b * log_y(p) - log_beta(a, b));
}
// Orders derivatives by a and b as derivatives by the variables, which are (a, b) or (b, a).
Jet<Wide> variables(const Jet<Wide>& a, const Jet<Wide>& h) {
  return a.a != 0 ? h : Jet<Wide>(h.f, h.b, h.a, h.bb, h.ab, h.aa);
}

void set_front(Wide& y, Wide a, Wide b, const Point& p) { y = front(a, b, p); }
void set_front(Jet<Wide>& y, const Jet<Wide>& a, const Jet<Wide>& b, const Point& p) {
  const Wide f = front(a.f, b.f, p), sum = a.f + b.f, both = polygamma_of(1, sum);
  const bool small = b.f < 1;
  const Wide db = small ? log_y(p) + digamma_of(sum) - digamma_of(1 + b.f)
                        : slope_by_a(b.f, a.f, other_side(p));
  const Wide dbb = small ? both - polygamma_of(1, 1 + b.f) : -polygamma_gap_of(1, b.f, a.f);
  const Wide da = slope_by_a(a.f, b.f, p), daa = -polygamma_gap_of(1, a.f, b.f);
  y = exp_of(variables(a, {0, da, db, daa, both, dbb}));
  y = small ? y * Jet<Wide>(f / b.f) * b : y * Jet<Wide>(f);
}

void set_below(Wide& y, Wide, const Point& p) { y = p.below; }
void set_below(Jet<Wide>& y, const Jet<Wide>& a, const Point& p) {
  y = variables(a, {p.below, p.y, -p.x});
}

// True if a further factor changes neither the fraction nor its derivatives significantly. (For an
// integer b the value stops changing long before its derivatives do.)
bool has_converged(Wide step, Wide) { return std::fabs(step - 1) < 64 * kEps<Wide>; }
bool has_converged(const Jet<Wide>& step, const Jet<Wide>& h) {
  if (!has_converged(step.f, h.f)) return false;
  const Wide first = (std::fabs(h.a) + std::fabs(h.b)) / h.f;
  const Wide second = (std::fabs(h.aa) + std::fabs(h.ab) + std::fabs(h.bb)) / h.f + first * first;
  const Wide small = 64 * kEps<Wide>;
  return std::fabs(step.a) + std::fabs(step.b) < small * first &&
         std::fabs(step.aa) + std::fabs(step.ab) + std::fabs(step.bb) < small * second;
}

// The continued fraction of Didonato and Morris (1992), section 9: front times it is the integral.
template <class V>
V fraction(const V& a, const V& b, const V& below, const Point& p) {
  const V x(p.x), one(1);
  V bottom = (a / (a + one)) * (below + one);
  V c(Wide(1e30)), d = one / bottom, h = d;
  int last = kSteps;
  for (int k = 1; k < last; ++k) {
    const V n{Wide(k)}, m = a + n - one, two = m + n;  // two = a + 2 n - 1
    const V top = (m / two) * ((m + b) / two) * n * (b - n) * x * x;
    bottom =
        n + (n * (b - n) * x) / two + ((a + n) / (two + V(2))) * (below + one + n * V(1 + p.y));
    d = one / (bottom + top * d);
    c = bottom + top / c;
    const V step = c * d;
    h = h * step;
    if (last == kSteps && has_converged(step, h)) last = k + k / 3 + 10;
  }
  return h;
}

// The logarithm of x^a gamma(a + b) / (gamma(a + 1) gamma(b)), which is near 1 for small a.
Wide exponent(Wide a, Wide b, const Point& p) {
  const Wide next = a < Wide(0.5) ? a * polynomial(kLogGamma, a) - std::log1p(a) : log_gamma(1 + a);
  return a * log_x(p) + log_gamma_rise(b, a) - next;
}
void set_power(Wide& y, Wide a, Wide b, const Point& p) { y = std::exp(exponent(a, b, p)); }
void set_power(Jet<Wide>& y, const Jet<Wide>& a, const Jet<Wide>& b, const Point& p) {
  Wide f;
  set_power(f, a.f, b.f, p);
  const Wide sum = a.f + b.f, both = polygamma_of(1, sum);
  const bool small = b.f < 1 && b.f < a.f;
  const Wide da = log_x(p) + digamma_of(sum) - digamma_of(1 + a.f);
  const Wide db = small ? digamma_of(sum) - digamma_of(1 + b.f) : -polygamma_gap_of(0, b.f, a.f);
  const Wide dbb = small ? both - polygamma_of(1, 1 + b.f) : -polygamma_gap_of(1, b.f, a.f);
  y = exp_of(variables(a, {0, da, db, both - polygamma_of(1, 1 + a.f), both, dbb}));
  y = small ? y * Jet<Wide>(f / b.f) * b : y * Jet<Wide>(f);
}

// The integrals below x and above it.
template <class V>
struct Sides {
  V below, above;
};

// power (1 + a (1 - b) x / (a + 1) + ...), for a < 1
template <class V>
Sides<V> small_power(const V& a, const V& b, const Point& p) {
  V term(1), sum(0);
  for (int k = 1; k < 2000; ++k) {
    const V n{Wide(k)};
    term = term * (n - b) * V(p.x / k);
    const V next = term / (a + n);
    sum = sum + next;
    if (is_lost(next, sum)) break;
  }
  V power(0);
  set_power(power, a, b, p);
  const V rest = power * a * sum, below = power + rest;
  V above = V(0) - below;
  if constexpr (sizeof(V) == sizeof(Wide)) {
    above = -std::expm1(exponent(a, b, p)) - rest;
  }
  return {below, above};
}

// For x <= (a + 1) / (a + b + 2), where everything converges fast. In a jet, only the derivatives
// of `above` are accurate, not its value.
template <class V>
Sides<V> integrals(const V& a, const V& b, const Point& p) {
  if (value_of(a) < 1) return small_power(a, b, p);
  V f(0), below(0);
  set_front(f, a, b, p);
  set_below(below, a, p);
  const V y = f * fraction(a, b, below, p);
  return {y, V(1) - y};
}

// The integral below a point, for 0 < a, b < infinity and 0 < x < 1.
template <class V>
V integral_at(const V& a, const V& b, const Point& p) {
  if (p.below + 1 - 2 * p.x >= 0) return integrals(a, b, p).below;
  return integrals(b, a, other_side(p)).above;
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
  Wide last = u;
  for (int k = 0; k < 200; ++k) {
    const Wide odds = std::exp(u), x = odds / (1 + odds), y = 1 / (1 + odds);
    const Point at{x, y, a * y - b * x, x > y};
    const Wide share = integral_at<Wide>(a, b, at), slope = front(a, b, at);
    if (!(share > 0 && slope > 0)) {  // outside of the range of numbers
      u = k == 0 ? std::log(a / b) : (u + last) / 2;
      continue;
    }
    last = u;
    const Wide step = (target - std::log(share)) * share / slope, most = 4 + std::fabs(u);
    u += std::clamp(step, -most, most);
    if (!(std::fabs(step) > Wide(1e-12))) break;
  }
  return u;
}

bool is_share(Wide p) { return p >= 0 && p <= 1; }

double inverse(double a, double b, Wide p, Wide q) {
  if (!(a > 0 && b > 0 && a + b < kInf<double> && is_share(p))) return kNan<double>;
  if (p == 0 || q == 0) return p == 0 ? 0 : 1;
  return static_cast<double>(1 / (1 + std::exp(-inverse_logit(a, b, p, q))));
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
double betaincinv(double a, double b, double c) { return inverse(a, b, c, 1 - Wide(c)); }
PULLBACK_SINGLE(betaincinv)
double betainccinv(double a, double b, double c) { return inverse(a, b, 1 - Wide(c), c); }
PULLBACK_SINGLE(betainccinv)

#define PULLBACK_STUDENT(name, value)                     \
  double name(double a, double b) { return value(a, b); } \
  float name(float a, float b) { return static_cast<float>(value(a, b)); }
PULLBACK_STUDENT(stdtr, student)
PULLBACK_STUDENT(stdtr_da, student_first)
PULLBACK_STUDENT(stdtr_daa, student_second)
PULLBACK_STUDENT(student_density, student_height)
PULLBACK_STUDENT(stdtrit, student_inverse)

}  // namespace pullback::special
