// Error functions of single elements, used by other special functions, and the derivatives of
// erfcx. The kernels over arrays are in kernels/vec_error.h.
#pragma once

namespace pullback::special {

// The order-th derivative of exp(x^2) erfc(x).
double erfcx(double x, double order) noexcept;

double ndtr(double x) noexcept;
double ndtri(double p) noexcept;

}  // namespace pullback::special
