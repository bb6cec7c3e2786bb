// Helpers of functions computed one element at a time: templates over the arithmetic type R, which
// is long double for float64 and double for float32, so that cancellation and rounding stay below
// the last digit of the result. Start at Jet.
#pragma once

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

namespace pullback::special {

template <class R>
constexpr R kPi = static_cast<R>(3.14159265358979323846264338327950288L);
template <class R>
constexpr R kInf = std::numeric_limits<R>::infinity();
template <class R>
constexpr R kNan = std::numeric_limits<R>::quiet_NaN();
template <class R>
constexpr R kEps = std::numeric_limits<R>::epsilon();

inline double value_of(double x) { return x; }
inline long double value_of(long double x) { return x; }

// c0 + c1 x + c2 x^2 + ...; x is a number or a Jet.
template <class V, size_t n>
V polynomial(const long double (&c)[n], V x) {
  using R = decltype(value_of(x));
  V sum(static_cast<R>(c[n - 1]));
  for (size_t k = n - 1; k-- > 0;) sum = sum * x + V(static_cast<R>(c[k]));
  return sum;
}

// sin(pi x) and cos(pi x); the distance of x to the nearest integer is exact.
template <class R>
R sin_pi(R x) {
  const R whole = std::nearbyint(x), r = x - whole;
  const R size = std::fabs(r);
  const R s = size > R(0.25) ? std::cos(kPi<R> * (R(0.5) - size)) : std::sin(kPi<R> * size);
  const bool odd = std::fmod(whole, R(2)) != 0;
  return (r < 0) != odd ? -s : s;
}
template <class R>
R cos_pi(R x) {
  const R whole = std::nearbyint(x), size = std::fabs(x - whole);
  const R c = size > R(0.25) ? std::sin(kPi<R> * (R(0.5) - size)) : std::cos(kPi<R> * size);
  return std::fmod(whole, R(2)) != 0 ? -c : c;
}

template <class R>
R power(R x, int n) {
  if (n > 64) return std::pow(x, static_cast<R>(n));  // products lose n / 2 ulp
  R y = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1) y *= x;
  return y;
}

// x - log(1 + x) for x > -1.
template <class R>
R less_log1p(R x) {
  if (!(std::fabs(x) < R(0.5))) return x - std::log1p(x);
  const R s = x / (2 + x), square = s * s;
  R term = s * square, sum = 0;
  for (int k = 3; std::fabs(term) > kEps<R> * std::fabs(sum); k += 2) {
    sum += term / k;
    term *= square;
  }
  return x * s - 2 * sum;
}

// A function of a and b, with its derivatives of first and second order.
template <class R>
struct Jet {
  R f, a, b, aa, ab, bb;
  Jet(R value, R da = 0, R db = 0, R daa = 0, R dab = 0, R dbb = 0)
      : f(value), a(da), b(db), aa(daa), ab(dab), bb(dbb) {}

  // h(this), where h is a function of one number with the derivatives `slope` and `second`.
  Jet of(R h, R slope, R second) const {
    return {h,
            slope * a,
            slope * b,
            slope * aa + second * a * a,
            slope * ab + second * a * b,
            slope * bb + second * b * b};
  }
};
template <class R>
R value_of(const Jet<R>& x) {
  return x.f;
}
template <class R>
Jet<R> operator+(const Jet<R>& x, const Jet<R>& y) {
  return {x.f + y.f, x.a + y.a, x.b + y.b, x.aa + y.aa, x.ab + y.ab, x.bb + y.bb};
}
template <class R>
Jet<R> operator-(const Jet<R>& x, const Jet<R>& y) {
  return {x.f - y.f, x.a - y.a, x.b - y.b, x.aa - y.aa, x.ab - y.ab, x.bb - y.bb};
}
template <class R>
Jet<R> operator*(const Jet<R>& x, const Jet<R>& y) {
  return {x.f * y.f,
          x.f * y.a + x.a * y.f,
          x.f * y.b + x.b * y.f,
          x.f * y.aa + 2 * (x.a * y.a) + x.aa * y.f,
          x.f * y.ab + x.a * y.b + x.b * y.a + x.ab * y.f,
          x.f * y.bb + 2 * (x.b * y.b) + x.bb * y.f};
}
template <class R>
Jet<R> operator/(const Jet<R>& x, const Jet<R>& y) {
  const R r = 1 / y.f;
  return x * y.of(r, -r * r, 2 * r * r * r);
}

inline double exp_of(double x) { return std::exp(x); }
inline long double exp_of(long double x) { return std::exp(x); }
template <class R>
Jet<R> exp_of(const Jet<R>& x) {
  const R e = std::exp(x.f);
  return x.of(e, e, e);
}
inline double expm1_of(double x) { return std::expm1(x); }
inline long double expm1_of(long double x) { return std::expm1(x); }
template <class R>
Jet<R> expm1_of(const Jet<R>& x) {
  const R e = std::exp(x.f);
  return x.of(std::expm1(x.f), e, e);
}

// True if adding x to y changes neither the value nor a derivative.
template <class R>
bool is_lost(R x, R y) {
  return !(std::fabs(x) > kEps<R> / 4 * std::fabs(y));
}
template <class R>
bool is_lost(const Jet<R>& x, const Jet<R>& y) {
  return is_lost(x.f, y.f) && is_lost(x.a, y.a) && is_lost(x.b, y.b) && is_lost(x.aa, y.aa) &&
         is_lost(x.ab, y.ab) && is_lost(x.bb, y.bb);
}

}  // namespace pullback::special
