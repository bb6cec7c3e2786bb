// Inverses of the incomplete beta function, and Student's distribution. float32 is computed in
// double. Start at inverse_logit().

#include "backend/cpu/special/betainc_parts.h"
#include "backend/cpu/special/error_functions.h"
#include "backend/cpu/special/gamma.h"

namespace pullback::special {
namespace {

// log(x / (1 - x)) for the x with integral p below: from Abramowitz and Stegun (1964) 26.5.22, or
// from the power law at 0.
template <class R>
R rough_inverse_logit(R a, R b, R p, R log_p) {
  const R middle = std::log(a / b);
  if (a > 1 && b > 1) {
    const R y = -ndtri(static_cast<double>(p)), bend = (y * y - 3) / 6;
    const R ra = 1 / (2 * a - 1), rb = 1 / (2 * b - 1), h = 2 / (ra + rb);
    const R root = y * std::sqrt(std::max(h + bend, R(0))) / h;
    return middle - 2 * (root - (rb - ra) * (bend + R(5) / 6 - 2 / (3 * h)));
  }
  const R x = (log_p + std::log(a) + log_beta(a, b)) / a;
  return x < R(-0.7) ? x - std::log1p(-std::exp(x)) : middle;
}

// The same exactly, from the start u. Newton's method on the logarithm of the integral, which is
// concave in this variable, so that the iteration converges from any start.
template <class R>
R newton_logit(R a, R b, R log_p, R u) {
  const R small = sizeof(R) > sizeof(double) ? R(1e-10L) : R(1e-8L);
  R last = u;
  for (int k = 0; k < 200; ++k) {
    const R odds = std::exp(u), x = odds / (1 + odds), y = 1 / (1 + odds);
    const Point<R> at{x, y, a * y - b * x, x > y};
    const R share = integral_at<R, R>(a, b, at), slope = front(a, b, at);
    if (!(share > 0 && slope > 0)) {  // outside of the range of numbers
      u = k == 0 ? std::log(a / b) : (u + last) / 2;
      continue;
    }
    last = u;
    const R stretch = share / slope, step = (log_p - std::log(share)) * stretch;
    const R most = 4 + std::fabs(u);
    u += std::clamp(step, -most, most);
    // A step of a few rounding errors of the integral settles nothing.
    if (!(std::fabs(step) > std::max(small, 4 * kSettled<R> * stretch))) break;
  }
  return u;
}

// The logit of the x with integral p below and q = 1 - p above, by the smaller one of them. Most
// steps are taken in double.
template <class R>
R inverse_logit(R a, R b, R p, R q) {
  if (p > q) return -inverse_logit(b, a, q, p);
  if (p == 0) return -kInf<R>;
  const R log_p = std::log(p), start = rough_inverse_logit(a, b, p, log_p);
  if (start < -800 && !(a > 1 && b > 1)) return start;
  if constexpr (sizeof(R) > sizeof(double)) {
    constexpr double kMost = 1e15;
    if (p > R(1e-250L) && start > -500 && a < kMost && b < kMost && a > 1 / kMost &&
        b > 1 / kMost) {
      const auto rough =
          newton_logit<double>(static_cast<double>(a), static_cast<double>(b),
                               static_cast<double>(log_p), static_cast<double>(start));
      if (std::fabs(rough) < 500) return newton_logit<R>(a, b, log_p, rough);
    }
  }
  return newton_logit<R>(a, b, log_p, start);
}

template <class R>
bool is_share(R p) {
  return p >= 0 && p <= 1;
}

template <class R>
double inverse(double a, double b, R p, R q) {
  if (!(a > 0 && b > 0 && a + b < kInf<double> && is_share(p))) return kNan<double>;
  if (p == 0 || q == 0) return p == 0 ? 0 : 1;
  return static_cast<double>(1 / (1 + std::exp(-inverse_logit<R>(a, b, p, q))));
}

template <class R>
double inverse_below(double a, double b, double p) {
  return inverse<R>(a, b, p, 1 - R(p));
}
template <class R>
double inverse_above(double a, double b, double q) {
  return inverse<R>(a, b, 1 - R(q), q);
}

// Student's distribution with n degrees of freedom: below -|x| it is half the incomplete beta
// integral below n / (n + x^2) with parameters n / 2 and 1 / 2.
template <class R>
Point<R> student_point(R n, R square) {
  const R all = n + square;
  return {n / all, square / all, n * (square - 1) / (2 * all), square < n};
}
bool is_student(double n, double x) { return n > 0 && !std::isnan(x); }

template <class R>
double student(double n, double x) {
  if (!is_student(n, x)) return kNan<double>;
  if (n == kInf<double>) return ndtr(x);
  if (x == 0) return 0.5;
  if (std::isinf(x)) return x > 0;
  const Point<R> p = student_point<R>(n, R(x) * x);
  const R tail = integral_at<R, R>(R(n) / 2, R(0.5), p) / 2;
  return static_cast<double>(x > 0 ? 1 - tail : tail);
}

template <class R>
double student_slope(double n, double x, bool second) {
  if (!is_student(n, x)) return kNan<double>;
  if (x == 0 || std::isinf(x) || n == kInf<double>) return 0;
  const R square = R(x) * x, all = n + square, a = R(n) / 2, b = 0.5;
  const Point<R> p = student_point<R>(n, square);
  const Jet<R> share = integral_at<R>(Jet<R>(a, 1), Jet<R>(b), p);
  const R move = square / all / all, height = density(a, b, p);
  const R first = share.a / 2 + height * move;
  const R bent = share.aa / 4 + density_da(a, b, p) * move + density_dx(a, b, p) * move * move -
                 2 * height * (move / all);
  const R slope = (second ? bent : first) / 2;
  return static_cast<double>(x > 0 ? -slope : slope);
}
template <class R>
double student_first(double n, double x) {
  return student_slope<R>(n, x, false);
}
template <class R>
double student_second(double n, double x) {
  return student_slope<R>(n, x, true);
}

template <class R>
double student_height(double n, double x) {
  if (!is_student(n, x)) return kNan<double>;
  const R square = R(x) * x;
  if (n == kInf<double>) return static_cast<double>(std::exp(-square / 2) / std::sqrt(2 * kPi<R>));
  if (std::isinf(x)) return 0;
  const R down = (R(n) + 1) / 2 * std::log1p(square / n);
  return static_cast<double>(std::exp(-down - log_beta(R(n) / 2, R(0.5))) / std::sqrt(R(n)));
}

template <class R>
double student_inverse(double n, double p) {
  if (!(n > 0 && is_share(p))) return kNan<double>;
  if (n == kInf<double>) return ndtri(p);
  if (p == 0 || p == 1) return p == 0 ? -kInf<double> : kInf<double>;
  const R share = 2 * std::min(R(p), 1 - R(p));
  const R u = inverse_logit<R>(R(n) / 2, R(0.5), share, 1 - share);
  const double x = static_cast<double>(std::sqrt(R(n)) * std::exp(-u / 2));
  return p < 0.5 ? -x : x;
}

}  // namespace

#define PULLBACK_INVERSE(name, value)                                               \
  double name(double a, double b, double c) { return value<long double>(a, b, c); } \
  float name(float a, float b, float c) { return static_cast<float>(value<double>(a, b, c)); }
PULLBACK_INVERSE(betaincinv, inverse_below)
PULLBACK_INVERSE(betainccinv, inverse_above)

#define PULLBACK_STUDENT(name, value)                                  \
  double name(double a, double b) { return value<long double>(a, b); } \
  float name(float a, float b) { return static_cast<float>(value<double>(a, b)); }
PULLBACK_STUDENT(stdtr, student)
PULLBACK_STUDENT(stdtr_da, student_first)
PULLBACK_STUDENT(stdtr_daa, student_second)
PULLBACK_STUDENT(student_density, student_height)
PULLBACK_STUDENT(stdtrit, student_inverse)

}  // namespace pullback::special
