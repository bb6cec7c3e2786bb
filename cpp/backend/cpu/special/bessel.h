// Bessel functions: modified ones of real order, and those of the first and second kind of integer
// order. NaN outside of the domain, as in SciPy.
#pragma once

namespace pullback::special {

double iv(double order, double x) noexcept;
// The `times`-th derivative of exp(-|x|) I_order(x). At 0, where |x| has a kink, the mean of both
// sides.
double ive(double order, double x, double times) noexcept;
// The `times`-th derivatives of J and Y.
double jn(double order, double x, double times) noexcept;
double yn(double order, double x, double times) noexcept;

}  // namespace pullback::special
