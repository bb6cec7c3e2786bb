// Real: the arithmetic type of the special functions, long double. Its 64 bits leave room for the
// rounding errors of a sum and for moderate cancellation, so the last rounding, to double, is
// nearly the only one. These files are compiled once, not per instruction set, so all return the
// same bits. (If long double is as narrow as double, the last digits are not guaranteed.)
//
// Hexadecimal coefficients are those of the Chebyshev interpolant of the function named beside
// them, computed with 50 digits (mpmath) and truncated where the rest is below 2^-66, written as a
// polynomial whose coefficients sum to little more than the value.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace pullback::special {

using Real = long double;

constexpr Real kPi = 3.14159265358979323846264338327950288L;
constexpr Real kSqrtPi = 1.77245385090551602729816748334114518L;
constexpr Real kSqrt2 = 1.41421356237309504880168872420969808L;
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kLast = 0x1p-67L;  // sums stop here

template <size_t n>
Real polynomial(Real x, const Real (&coefficients)[n]) {
  Real sum = coefficients[n - 1];
  for (size_t k = n - 1; k-- > 0;) sum = sum * x + coefficients[k];
  return sum;
}

}  // namespace pullback::special
