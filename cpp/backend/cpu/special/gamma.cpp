// gamma, its logarithm and derivatives, beta: values outside of the domain, and the type of
// arithmetic.

#include "backend/cpu/special/gamma.h"

#include <algorithm>

#include "backend/cpu/special/beta_parts.h"

namespace pullback::special {
namespace {

// long double for float64. It is used for float32 too at higher orders, whose powers leave double's
// range.
using Wide = long double;
constexpr int kOrders = 30;

template <class F, class R>
F polygamma_as(F n, F x) {
  if (std::isnan(x) || !(n >= 0) || n != std::floor(n)) return kNan<F>;
  if (n > F(1e6)) return x == kInf<F> ? F(0) : kNan<F>;
  const int order = static_cast<int>(n);
  if (order > 8) return static_cast<F>(polygamma_of<Wide>(order, x));
  return static_cast<F>(polygamma_any<R>(order, x));
}

bool is_order(double n) { return n >= 0 && n <= kOrders && n == std::floor(n); }

template <class R>
R gamma_nth_of(int n, R x) {
  R derivative[kOrders + 1] = {gamma_of(x)};
  if (n && x == kInf<R>) return x;
  bell(n, R(1), x, derivative);
  return derivative[n];
}

// Derivatives of gamma(1 - x) sin(pi x) / pi for negative x; finite at the poles of gamma too.
template <class R>
R rgamma_nth_of(int n, R x) {
  if (n <= 0) return reciprocal_gamma(x);
  if (x == kInf<R>) return 0;
  if (!(x > -kInf<R>)) return kNan<R>;
  R derivative[kOrders + 1];
  if (x >= R(0.5)) {
    derivative[0] = reciprocal_gamma(x);
    bell(n, R(-1), x, derivative);
    return derivative[n];
  }
  derivative[0] = gamma_positive(1 - x);
  bell(n, R(1), 1 - x, derivative);
  const R wave[] = {sin_pi(x), cos_pi(x), -sin_pi(x), -cos_pi(x)};
  R sum = 0, choose = 1;  // n over k
  for (int k = 0; k <= n; ++k) {
    const R term = choose * derivative[k] * wave[(n - k) % 4] * power(kPi<R>, n - k);
    sum += k % 2 ? -term : term;
    choose = choose * (n - k) / (k + 1);
  }
  return sum / kPi<R>;
}

template <class R>
R polygamma_gap_at(R n, R x, R d) {
  if (std::isnan(x) || std::isnan(d) || !is_order(static_cast<double>(n))) return kNan<R>;
  if (x == kInf<R>) return d == -kInf<R> ? kNan<R> : 0;
  return polygamma_gap_of(static_cast<int>(n), x, d);
}

}  // namespace

double gammaln(double a) { return static_cast<double>(log_gamma<Wide>(a)); }
float gammaln(float a) { return static_cast<float>(log_gamma<double>(a)); }
double digamma(double a) { return static_cast<double>(digamma_of<Wide>(a)); }
float digamma(float a) { return static_cast<float>(digamma_of<double>(a)); }
double gamma(double a) { return static_cast<double>(gamma_of<Wide>(a)); }
float gamma(float a) { return static_cast<float>(gamma_of<double>(a)); }
double rgamma(double a) { return static_cast<double>(reciprocal_gamma<Wide>(a)); }
float rgamma(float a) { return static_cast<float>(reciprocal_gamma<double>(a)); }
double polygamma(double a, double b) { return polygamma_as<double, Wide>(a, b); }
float polygamma(float a, float b) { return polygamma_as<float, double>(a, b); }

double gamma_nth(double a, double b) {
  return is_order(a) ? static_cast<double>(gamma_nth_of<Wide>(static_cast<int>(a), b))
                     : kNan<double>;
}
float gamma_nth(float a, float b) { return static_cast<float>(gamma_nth(double{a}, double{b})); }
double rgamma_nth(double a, double b) {
  return is_order(a) ? static_cast<double>(rgamma_nth_of<Wide>(static_cast<int>(a), b))
                     : kNan<double>;
}
float rgamma_nth(float a, float b) { return static_cast<float>(rgamma_nth(double{a}, double{b})); }

double beta(double a, double b) { return static_cast<double>(beta_of<Wide>(a, b)); }
float beta(float a, float b) { return static_cast<float>(beta_of<double>(a, b)); }
double betaln(double a, double b) { return static_cast<double>(log_beta<Wide>(a, b)); }
float betaln(float a, float b) { return static_cast<float>(log_beta<double>(a, b)); }
double polygamma_gap(double a, double b, double c) {
  return static_cast<double>(polygamma_gap_at<Wide>(a, b, c));
}
float polygamma_gap(float a, float b, float c) {
  return static_cast<float>(polygamma_gap_at<Wide>(a, b, c));
}
}  // namespace pullback::special
