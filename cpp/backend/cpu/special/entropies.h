// Logarithms of ratios, entropies, and sin(pi x) / (pi x).
#pragma once

namespace pullback::special {

double logit(double p) noexcept;
double logit_slope(double p) noexcept;
double log_ratio(double a, double b) noexcept;  // log(a / b)
double entr(double x) noexcept;
double entr_slope(double x) noexcept;
double rel_entr(double x, double y) noexcept;
double rel_entr_slope(double x, double y) noexcept;  // 1 + log(x / y)
double kl_div(double x, double y) noexcept;
// The order-th derivative of sin(pi x) / (pi x).
double sinc(double x, double order) noexcept;

}  // namespace pullback::special
