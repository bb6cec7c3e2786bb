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
// For a number that is not negative.
PULLBACK_INLINE TwoPart square_root(TwoPart a) {
  const double root = __builtin_sqrt(a.high), square = root * root;
  const double rest = ((a.high - square) - product_rest(root, root, square)) + a.low;
  return {root, root > 0.0 ? 0.5 * rest / root : 0.0};
}

}  // namespace m
}  // namespace
}  // namespace pullback
