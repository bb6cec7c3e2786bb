// Bessel functions: modified ones of real orders, and those of the first and second kind of whole
// orders. NaN outside the domain, as SciPy's.
#pragma once

namespace pullback::special {

double iv(double order, double x) noexcept;
// The derivative, so many times, of exp(-|x|) I_order(x). At 0, where |x| has a kink, the mean of
// both sides.
double ive(double order, double x, double times) noexcept;
// The derivatives, so many times, of J and Y.
double jn(double order, double x, double times) noexcept;
double yn(double order, double x, double times) noexcept;

}  // namespace pullback::special
