// The regularized incomplete beta function, with derivatives by a and b.
//
// By a continued fraction for x below the mean, else 1 - that of the other side; by a series in
// 1 - x where b is small and so is the result.

#include <algorithm>

#include "backend/cpu/special/beta_parts.h"
#include "backend/cpu/special/gamma.h"

namespace pullback::special {
namespace {

using Wide = long double;
constexpr int kSteps = 100000;

// A point x and 1 - x, exactly where x is a number of the caller, and a - (a + b) x.
struct Point {
  Wide x, y, below;
  bool flipped;  // y is the caller's number
};

// With products of float64 numbers in two parts: what is left of a where the terms cancel is exact.
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

// log(x) - (digamma(a) - digamma(a + b)), the slope of log(x^a / beta(a, b)) by a.
Wide slope_by_a(Wide a, Wide b, const Point& p) {
  const Wide apart = -p.below / a;  // x (a + b) / a - 1
  if (a >= kFar && std::fabs(apart) < Wide(0.5))
    return std::log1p(apart) + log_less_digamma(a) - log_less_digamma(a + b);
  return log_x(p) - polygamma_gap_of(0, a, b);
}

// x^a (1 - x)^b / beta(a, b)
Wide front(Wide a, Wide b, const Point& p) {
  if (a >= kFar && b >= kFar) {
    const Wide down = a * less_log1p(-p.below / a) + b * less_log1p(p.below / b);
    const Wide rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return std::exp(-down - rest) * std::sqrt(a / (2 * kPi<Wide>)*(b / (a + b)));
  }
  if (a < kFar && b < kFar) {
    const Wide top = std::pow(p.x, a) * std::pow(p.y, b);
    return top / beta_of(a, b);
  }
  return std::exp(a * log_x(p) + b * log_y(p) - log_beta(a, b));
}
void set_front(Wide& y, Wide a, Wide b, const Point& p) { y = front(a, b, p); }
void set_front(Jet<Wide>& y, const Jet<Wide>& a, const Jet<Wide>& b, const Point& p) {
  const Wide f = front(a.f, b.f, p);
  const Wide da = slope_by_a(a.f, b.f, p), db = slope_by_a(b.f, a.f, other_side(p));
  const Wide both = polygamma_of(1, a.f + b.f);
  const Jet<Wide> size(0, da, db, -polygamma_gap_of(1, a.f, b.f), both,
                       -polygamma_gap_of(1, b.f, a.f));
  // a and b are the variables, or the other way round
  const bool swapped = a.a == 0;
  y = swapped ? exp_of(Jet<Wide>(0, size.b, size.a, size.bb, size.ab, size.aa)) : exp_of(size);
  y = y * Jet<Wide>(f);
}

void set_below(Wide& y, const Point& p) { y = p.below; }
void set_below(Jet<Wide>& y, const Point& p, bool swapped) {
  y = swapped ? Jet<Wide>(p.below, -p.x, p.y) : Jet<Wide>(p.below, p.y, -p.x);
}

// The fraction of Didonato and Morris (1992), section 9: a front times it is the integral below x.
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
    if (last == kSteps && std::fabs(value_of(step) - 1) < 2 * kEps<Wide>) last = k + k / 3 + 10;
  }
  return h;
}

void set_exponent(Wide& e, Wide a, Wide b, const Point& p) {
  const Wide next = b < Wide(0.5) ? b * polynomial(kLogGamma, b) - std::log1p(b) : log_gamma(1 + b);
  e = b * log_y(p) + log_gamma_rise(a, b) - next;
}
void set_exponent(Jet<Wide>& e, const Jet<Wide>& a, const Jet<Wide>& b, const Point& p) {
  Wide value;
  set_exponent(value, a.f, b.f, p);
  const Wide both = polygamma_of(1, a.f + b.f);
  e = {value,
       -polygamma_gap_of(0, a.f, b.f),
       log_y(p) + digamma_of(a.f + b.f) - digamma_of(1 + b.f),
       -polygamma_gap_of(1, a.f, b.f),
       both,
       both - polygamma_of(1, 1 + b.f)};
}

// 1 - y^b gamma(a + b) / (gamma(a) gamma(1 + b)) (1 + b (1 - a) y / (b + 1) + ...), small b
template <class V>
V near_one(const V& a, const V& b, const Point& p) {
  V exponent(0);
  set_exponent(exponent, a, b, p);
  V term(1), sum(0);
  for (int k = 1; k < 2000; ++k) {
    const V n{Wide(k)};
    term = term * (n - a) * V(p.y / k);
    const V next = term / (b + n);
    sum = sum + next;
    if (is_lost(next, sum)) break;
  }
  return V(0) - expm1_of(exponent) - exp_of(exponent) * b * sum;
}

template <class V>
V below_point(const V& a, const V& b, const Point& p, [[maybe_unused]] bool swapped) {
  V f(0), below(0);
  set_front(f, a, b, p);
  if constexpr (sizeof(V) == sizeof(Wide)) {
    set_below(below, p);
  } else {
    set_below(below, p, swapped);
  }
  return f * fraction(a, b, below, p);
}

// For 0 < a, b < infinity and 0 < x < 1.
template <class V>
V integral_below(const V& a, const V& b, double x) {
  const double size_a = static_cast<double>(value_of(a)), size_b = static_cast<double>(value_of(b));
  const Point p{x, 1 - Wide(x), below_mean(size_a, size_b, x), false};
  // x <= (a + 1) / (a + b + 2), where the fraction converges fast
  if (p.below + 1 - 2 * p.x >= 0) return below_point(a, b, p, false);
  if (size_b < 1) return near_one(a, b, p);
  return V(1) - below_point(b, a, other_side(p), true);
}

bool is_outside(double a, double b, double x) { return !(a >= 0 && b >= 0 && x >= 0 && x <= 1); }
bool is_limit(double a, double b, double x) {
  return a == 0 || b == 0 || a == kInf<double> || b == kInf<double> || x == 0 || x == 1;
}

double incomplete(double a, double b, double x) {
  if (is_outside(a, b, x) || (a == 0 && b == 0) || (a == b && a == kInf<double>))
    return kNan<double>;
  if (is_limit(a, b, x)) {
    if (x == 0) return a == 0 && b == 0 ? kNan<double> : 0;
    if (x == 1) return 1;
    return a == 0 || b == kInf<double> ? 1 : 0;
  }
  return static_cast<double>(integral_below<Wide>(a, b, x));
}

double density(double a, double b, double x) {
  if (is_outside(a, b, x)) return kNan<double>;
  if (x == 0 && a > 0 && b > 0) return a < 1 ? kInf<double> : (a == 1 ? b : 0);
  if (x == 1 && a > 0 && b > 0) return b < 1 ? kInf<double> : (b == 1 ? a : 0);
  if (is_limit(a, b, x)) return a == b ? kNan<double> : 0;
  const Point p{x, 1 - Wide(x), below_mean(a, b, x), false};
  return static_cast<double>(front(a, b, p) / p.x / p.y);
}

double slope(double a, double b, double x, Wide Jet<Wide>::* part) {
  if (is_outside(a, b, x)) return kNan<double>;
  if (is_limit(a, b, x)) return a == 0 || b == 0 || a == b ? kNan<double> : 0;
  return static_cast<double>(integral_below(Jet<Wide>(a, 1), Jet<Wide>(b, 0, 1), x).*part);
}

}  // namespace

double betainc(double a, double b, double c) { return incomplete(a, b, c); }
double beta_density(double a, double b, double c) { return density(a, b, c); }
double betainc_da(double a, double b, double c) { return slope(a, b, c, &Jet<Wide>::a); }
double betainc_db(double a, double b, double c) { return slope(a, b, c, &Jet<Wide>::b); }
double betainc_daa(double a, double b, double c) { return slope(a, b, c, &Jet<Wide>::aa); }
double betainc_dab(double a, double b, double c) { return slope(a, b, c, &Jet<Wide>::ab); }
double betainc_dbb(double a, double b, double c) { return slope(a, b, c, &Jet<Wide>::bb); }

#define PULLBACK_SINGLE(name)                                         \
  float name(float a, float b, float c) {                             \
    return static_cast<float>(name(double{a}, double{b}, double{c})); \
  }
PULLBACK_SINGLE(betainc)
PULLBACK_SINGLE(beta_density)
PULLBACK_SINGLE(betainc_da)
PULLBACK_SINGLE(betainc_db)
PULLBACK_SINGLE(betainc_daa)
PULLBACK_SINGLE(betainc_dab)
PULLBACK_SINGLE(betainc_dbb)
#undef PULLBACK_SINGLE

}  // namespace pullback::special
