// What functions computed one element at a time share: they are templates over the type R that they
// compute in, long double for float64 and double for float32, so that what terms cancel and
// rounding loses stays below the last place of the result.
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

// c0 + c1 x + c2 x^2 + ...
template <class R, size_t n>
R polynomial(const long double (&c)[n], R x) {
  R sum = static_cast<R>(c[n - 1]);
  for (size_t k = n - 1; k-- > 0;) sum = sum * x + static_cast<R>(c[k]);
  return sum;
}

// sin(pi x) and cos(pi x): what is left of x beside the nearest whole number is exact.
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
  if (n > 64) return std::pow(x, static_cast<R>(n));  // products lose n / 2 units
  R y = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1) y *= x;
  return y;
}

// x - log(1 + x) for x > -1.
template <class R>
R less_log1p(R x) {
  if (!(std::fabs(x) < R(0.25))) return x - std::log1p(x);
  const R s = x / (2 + x), square = s * s;
  R term = s * square, sum = 0;
  for (int k = 3; std::fabs(term) > kEps<R> * std::fabs(sum); k += 2, term *= square)
    sum += term / k;
  return x * s - 2 * sum;
}

// Whether adding x to y changes nothing.
template <class R>
bool is_lost(R x, R y) {
  return !(std::fabs(x) > kEps<R> / 4 * std::fabs(y));
}
}  // namespace pullback::special
