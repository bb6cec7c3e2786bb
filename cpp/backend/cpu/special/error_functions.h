// The error function's relatives, and those of the normal distribution. A slope is the first
// derivative, in a form of its own where that of the value would lose digits.
#pragma once

namespace pullback::special {

double erfc(double x) noexcept;
// The order-th derivative of exp(x^2) erfc(x).
double erfcx(double x, double order) noexcept;
double erfinv(double x) noexcept;
double erfinv_slope(double x) noexcept;
double erfcinv(double x) noexcept;
double erfcinv_slope(double x) noexcept;

double ndtr(double x) noexcept;
double ndtr_slope(double x) noexcept;
double ndtri(double p) noexcept;
double ndtri_slope(double p) noexcept;
double log_ndtr(double x) noexcept;
double log_ndtr_slope(double x) noexcept;
// x + log_ndtr_slope(x): the second derivative is minus its product with the slope.
double log_ndtr_rest(double x) noexcept;

}  // namespace pullback::special
