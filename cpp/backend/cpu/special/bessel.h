// Bessel functions: modified ones of real order, NaN outside of the domain, as in SciPy; and
// those of the first and second kind for large arguments.
#pragma once

namespace pullback::special {

double iv(double order, double x) noexcept;
// The `times`-th derivative of exp(-|x|) I_order(x). At 0, where |x| has a kink, the mean of both
// sides.
double ive(double order, double x, double times) noexcept;

// J or Y of the order 0 or 1 for finite x > 2^20, as high + low.
struct Wave {
  double high, low;
};
Wave far_wave(int order, bool second, double x) noexcept;

}  // namespace pullback::special
