// A character model of LSTM layers with diagonal weights.

#include <algorithm>
#include <vector>

#include "by_hand.h"

using by_hand::square;
using std::exp;
using std::log;
using std::tanh;

namespace {

double logistic(double x) { return 1 / (1 + exp(-x)); }

}  // namespace

// One thread: each step needs the one before.
extern "C" double lstm(int64_t layers, int64_t width, int64_t characters, const double* weights,
                       const double* biases, const double* extra, const double* text,
                       const double* state, double* g_weights, double* g_biases, double* g_extra) {
  struct Kept {
    double a, h, c, gates[4], tanh_c;  // a, h, c before the step
  };
  const int64_t steps = characters - 1;
  const double scale = 1 / static_cast<double>(width * steps);
  std::vector<double> h(layers * width), c(layers * width), a(width), g_y(steps * width);
  std::vector<double> g_h(layers * width), g_c(layers * width);
  std::vector<Kept> kept(steps * layers * width);
  for (int64_t i = 0; i < layers; ++i) {
    for (int64_t u = 0; u < width; ++u) {
      h[i * width + u] = state[2 * i * width + u];
      c[i * width + u] = state[(2 * i + 1) * width + u];
    }
  }
  const double* out_weight = extra + width;
  const double* out_bias = extra + 2 * width;
  std::fill(g_weights, g_weights + layers * 4 * width, 0.0);
  std::fill(g_biases, g_biases + layers * 4 * width, 0.0);
  std::fill(g_extra, g_extra + 3 * width, 0.0);

  double loss = 0;
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t u = 0; u < width; ++u) a[u] = text[t * width + u] * extra[u];
    for (int64_t i = 0; i < layers; ++i) {
      const double* w = weights + i * 4 * width;
      const double* b = biases + i * 4 * width;
      for (int64_t u = 0; u < width; ++u) {
        double& hidden = h[i * width + u];
        double& cell = c[i * width + u];
        Kept& now = kept[(t * layers + i) * width + u];
        now = {a[u],
               hidden,
               cell,
               {logistic(a[u] * w[u] + b[u]), logistic(hidden * w[width + u] + b[width + u]),
                logistic(a[u] * w[2 * width + u] + b[2 * width + u]),
                tanh(hidden * w[3 * width + u] + b[3 * width + u])},
               0};
        cell = cell * now.gates[0] + now.gates[1] * now.gates[3];
        now.tanh_c = tanh(cell);
        a[u] = hidden = now.gates[2] * now.tanh_c;
      }
    }
    const double* next = text + (t + 1) * width;
    double sum = 2;
    double set = 0;
    for (int64_t u = 0; u < width; ++u) {
      const double y = a[u] * out_weight[u] + out_bias[u];
      g_y[t * width + u] = exp(y);
      sum += g_y[t * width + u];
      set += next[u];
      loss -= next[u] * y;
    }
    loss += set * log(sum);
    for (int64_t u = 0; u < width; ++u) {
      double& g = g_y[t * width + u];
      g = scale * (set * g / sum - next[u]);
      g_extra[width + u] += g * a[u];
      g_extra[2 * width + u] += g;
    }
  }

  for (int64_t t = steps - 1; t >= 0; --t) {
    for (int64_t u = 0; u < width; ++u) a[u] = g_y[t * width + u] * out_weight[u];
    for (int64_t i = layers - 1; i >= 0; --i) {
      for (int64_t u = 0; u < width; ++u) {
        const Kept& now = kept[(t * layers + i) * width + u];
        const double* gates = now.gates;
        const double g_out = g_h[i * width + u] + a[u];
        const double g_cell = g_c[i * width + u] + g_out * gates[2] * (1 - square(now.tanh_c));
        const double g[] = {g_cell * now.c * gates[0] * (1 - gates[0]),
                            g_cell * gates[3] * gates[1] * (1 - gates[1]),
                            g_out * now.tanh_c * gates[2] * (1 - gates[2]),
                            g_cell * gates[1] * (1 - square(gates[3]))};
        const double reads[] = {now.a, now.h, now.a, now.h};
        const int64_t first = i * 4 * width + u;
        for (int64_t gate = 0; gate < 4; ++gate) {
          g_weights[first + gate * width] += g[gate] * reads[gate];
          g_biases[first + gate * width] += g[gate];
        }
        a[u] = g[0] * weights[first] + g[2] * weights[first + 2 * width];
        g_h[i * width + u] = g[1] * weights[first + width] + g[3] * weights[first + 3 * width];
        g_c[i * width + u] = g_cell * gates[0];
      }
    }
    for (int64_t u = 0; u < width; ++u) g_extra[u] += a[u] * text[t * width + u];
  }
  return loss * scale;
}
