// y_i' = x_i y_(i-1), where y_(-1) is 1, from 0 to time 2 by Runge and Kutta's method of order 4:
// the sum of the last y and its gradient. The arrays of y begin with y_(-1).

#include <algorithm>
#include <vector>

#include "by_hand.h"

namespace {

struct Stages {
  std::vector<double> k1, k2, k3, k4;
  explicit Stages(int64_t n) : k1(n + 1), k2(n + 1), k3(n + 1), k4(n + 1) {}
};

void find_slopes(int64_t n, double h, const double* x, const double* y, Stages& s) {
  const double *k1 = s.k1.data(), *k2 = s.k2.data(), *k3 = s.k3.data();
  double *to1 = s.k1.data() + 1, *to2 = s.k2.data() + 1, *to3 = s.k3.data() + 1;
  double* to4 = s.k4.data() + 1;
  for (int64_t i = 0; i < n; ++i) to1[i] = x[i] * y[i];
  for (int64_t i = 0; i < n; ++i) to2[i] = x[i] * (y[i] + h / 2 * k1[i]);
  for (int64_t i = 0; i < n; ++i) to3[i] = x[i] * (y[i] + h / 2 * k2[i]);
  for (int64_t i = 0; i < n; ++i) to4[i] = x[i] * (y[i] + h * k3[i]);
}

}  // namespace

extern "C" void ode(int64_t n, int64_t steps, const double* x, double* value, double* gradient) {
  const double h = 2.0 / static_cast<double>(steps);
  std::vector<double> states((steps + 1) * (n + 1));
  Stages s(n), g(n);
  states[0] = 1;
  for (int64_t t = 0; t < steps; ++t) {
    const double* y = &states[t * (n + 1)];
    double* next = &states[(t + 1) * (n + 1)];
    find_slopes(n, h, x, y, s);
    for (int64_t i = 0; i <= n; ++i) {
      next[i] = y[i] + h / 6 * (s.k1[i] + 2 * s.k2[i] + 2 * s.k3[i] + s.k4[i]);
    }
  }
  *value = 0;
  for (int64_t i = 1; i <= n; ++i) *value += states[steps * (n + 1) + i];

  std::vector<double> back(n + 1, 1.0);
  std::fill(gradient, gradient + n, 0.0);
  double *g1 = g.k1.data(), *g2 = g.k2.data(), *g3 = g.k3.data();
  const double *from1 = g1 + 1, *from2 = g2 + 1, *from3 = g3 + 1;
  for (int64_t t = steps - 1; t >= 0; --t) {
    const double* y = &states[t * (n + 1)];
    find_slopes(n, h, x, y, s);
    const double *k1 = s.k1.data(), *k2 = s.k2.data(), *k3 = s.k3.data();
    // From the last stage to the first: each adds to the slopes of the stage before it and of y.
    for (int64_t i = 0; i < n; ++i) {
      const double slope = h / 6 * back[i + 1];
      gradient[i] += slope * (y[i] + h * k3[i]);
      g3[i] = h / 3 * back[i] + h * slope * x[i];
      s.k4[i] = slope * x[i];  // of y
    }
    g3[n] = h / 3 * back[n];
    for (int64_t i = 0; i < n; ++i) {
      gradient[i] += from3[i] * (y[i] + h / 2 * k2[i]);
      g2[i] = h / 3 * back[i] + h / 2 * from3[i] * x[i];
      s.k4[i] += from3[i] * x[i];
    }
    g2[n] = h / 3 * back[n];
    for (int64_t i = 0; i < n; ++i) {
      gradient[i] += from2[i] * (y[i] + h / 2 * k1[i]);
      g1[i] = h / 6 * back[i] + h / 2 * from2[i] * x[i];
      s.k4[i] += from2[i] * x[i];
    }
    g1[n] = h / 6 * back[n];
    for (int64_t i = 0; i < n; ++i) {
      gradient[i] += from1[i] * y[i];
      back[i] += s.k4[i] + from1[i] * x[i];
    }
  }
}
