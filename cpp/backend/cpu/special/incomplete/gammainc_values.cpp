// The regularized incomplete gamma functions of one element, for callers other than the kernels.

#include "backend/cpu/kernels/gammainc_values.h"

#include "backend/cpu/special/gamma.h"

namespace pullback::special {

double gammainc(double a, double x) { return incomplete(a, x, true); }
float gammainc(float a, float x) { return incomplete(a, x, true); }
double gammaincc(double a, double x) { return incomplete(a, x, false); }
float gammaincc(float a, float x) { return incomplete(a, x, false); }

}  // namespace pullback::special
