// Least squares of signs by a polynomial.

#include <algorithm>

#include "by_hand.h"

using by_hand::kSmall;

extern "C" double llsq(int64_t n, int64_t m, const double* x, const double* t, const double* s,
                       double* g) {
  double value = 0;
  std::fill(g, g + m, 0.0);
#pragma omp parallel for reduction(+ : value, g[ : m]) if (n * m > kSmall)
  for (int64_t i = 0; i < n; ++i) {
    double residual = s[i];
    double power = 1;
    for (int64_t j = 0; j < m; ++j, power *= t[i]) residual -= x[j] * power;
    value += 0.5 * residual * residual;
    power = -residual;
    for (int64_t j = 0; j < m; ++j, power *= t[i]) g[j] += power;
  }
  return value;
}
