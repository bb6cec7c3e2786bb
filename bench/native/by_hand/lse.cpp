// log Σ exp x.

#include <algorithm>

#include "by_hand.h"

using by_hand::kSmall;
using std::exp;

extern "C" double lse(int64_t n, const double* x, double* g) {
  double top = x[0];
#pragma omp parallel for if (n > kSmall) reduction(max : top)
  for (int64_t i = 0; i < n; ++i) top = std::max(top, x[i]);
  double sum = 0;
#pragma omp parallel for if (n > kSmall) reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) {
    g[i] = exp(x[i] - top);
    sum += g[i];
  }
  const double scale = 1 / sum;
#pragma omp parallel for if (n > kSmall)
  for (int64_t i = 0; i < n; ++i) g[i] *= scale;
  return top + std::log(sum);
}
