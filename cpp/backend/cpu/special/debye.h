// Modified Bessel functions of the first kind where order or argument is large.
#pragma once

namespace pullback::special {

// True for arguments of far_i().
bool is_far_i(double v, double x) noexcept;
// I_v, or exp(-x) I_v if scaled, for v >= 0.
double far_i(double v, double x, bool is_scaled) noexcept;

}  // namespace pullback::special
