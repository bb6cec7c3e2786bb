// sin(pi x) / (pi x) with its derivatives.
#pragma once

namespace pullback::special {

// The order-th derivative of sin(pi x) / (pi x).
double sinc(double x, double order) noexcept;

}  // namespace pullback::special
