// Formulas with their gradients in C++ by hand, as somebody in need of speed writes them: plain
// loops over double, OpenMP where iterations are independent, the compiler's libm. A file for each,
// which together are a shared library of C functions that by_cpp.py calls. A function takes sizes,
// the arrays of its inputs and the arrays that it fills; those that return a number return the
// value.
#pragma once

#include <cmath>
#include <cstdint>

namespace by_hand {

// Below this a second thread costs more than it brings.
constexpr int64_t kSmall = 10000;

inline double square(double x) { return x * x; }

}  // namespace by_hand
