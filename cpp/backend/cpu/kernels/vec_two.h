// Numbers in two parts, a rounded number and its rounding error: the arithmetic of functions whose
// last rounding must be nearly the only one.
#pragma once

#include "backend/cpu/kernels/vec_exp.h"

namespace pullback {
namespace {
namespace m {

constexpr double kPi = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;

// a + b for |a| >= |b|, or a = 0.
PULLBACK_INLINE TwoPart quick_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
// a + b (Knuth).
PULLBACK_INLINE TwoPart two_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
PULLBACK_INLINE TwoPart two_product(double a, double b) {
  const double product = a * b;
  return {product, product_rest(a, b, product)};
}
PULLBACK_INLINE TwoPart divided(TwoPart top, TwoPart bottom) {
  const double q = top.high / bottom.high;
  const double rest = division_rest(top.high, bottom.high, q) + (top.low - q * bottom.low);
  return {q, rest / bottom.high};
}
PULLBACK_INLINE TwoPart product(TwoPart a, TwoPart b) {
  const double high = a.high * b.high;
  return {high, product_rest(a.high, b.high, high) + (a.high * b.low + a.low * b.high)};
}
PULLBACK_INLINE TwoPart product(double a, TwoPart b) {
  const double high = a * b.high;
  return {high, product_rest(a, b.high, high) + a * b.low};
}
// The same as divided() with one division.
PULLBACK_INLINE TwoPart quotient(TwoPart top, TwoPart bottom) {
  const double inverse = 1.0 / bottom.high, q = top.high * inverse;
  const double rest = division_rest(top.high, bottom.high, q) + (top.low - q * bottom.low);
  return {q, rest * inverse};
}
// 1 / x in two parts.
PULLBACK_INLINE TwoPart reciprocal(double x) {
  const double r = 1.0 / x;
  return {r, division_rest(1.0, x, r) * r};
}
PULLBACK_INLINE TwoPart plus(TwoPart a, TwoPart b) {
  const TwoPart y = two_sum(a.high, b.high);
  return quick_sum(y.high, y.low + (a.low + b.low));
}
// For a number that is not negative.
PULLBACK_INLINE TwoPart square_root(TwoPart a) {
  const double root = __builtin_sqrt(a.high), square = root * root;
  const double rest = ((a.high - square) - product_rest(root, root, square)) + a.low;
  return {root, root > 0.0 ? 0.5 * rest / root : 0.0};
}

}  // namespace m
}  // namespace
}  // namespace pullback
