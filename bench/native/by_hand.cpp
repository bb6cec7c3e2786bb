// Formulas of workloads.py with their gradients in C++ by hand, as somebody in need of speed writes
// them: plain loops over double, OpenMP where iterations are independent, the compiler's libm. A
// shared library of C functions that by_cpp.py calls; each returns the value and fills gradients.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using std::exp;
using std::log;
using std::tanh;

// Below this a second thread costs more than it brings.
constexpr int64_t kSmall = 10000;

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
  return top + log(sum);
}

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

namespace {

// log Σ exp x; shares[i] = exp(x[i]) / Σ exp x.
double shares_of(int64_t n, const double* x, double* shares) {
  const double top = *std::max_element(x, x + n);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += shares[i] = exp(x[i] - top);
  for (int64_t i = 0; i < n; ++i) shares[i] /= sum;
  return top + log(sum);
}

// Where the entries of column c below the diagonal begin.
int64_t column(int64_t d, int64_t c) { return c * d - c * (c + 1) / 2; }

// y = Q (x - mu) with exp(q) on Q's diagonal and l below it.
void distance(int64_t d, const double* x, const double* mu, const double* exp_q, const double* l,
              double* y) {
  for (int64_t r = 0; r < d; ++r) y[r] = exp_q[r] * (x[r] - mu[r]);
  for (int64_t c = 0; c < d; ++c) {
    const double difference = x[c] - mu[c];
    const double* below = l + column(d, c);
    for (int64_t r = c + 1; r < d; ++r) y[r] += below[r - c - 1] * difference;
  }
}

double square(double x) { return x * x; }
double logistic(double x) { return 1 / (1 + exp(-x)); }

}  // namespace

extern "C" double gmm(int64_t n, int64_t d, int64_t k, double gamma, double m, double constant,
                      const double* alpha, const double* mu, const double* q, const double* l,
                      const double* x, double* g_alpha, double* g_mu, double* g_q, double* g_l) {
  const int64_t lower = d * (d - 1) / 2;
  std::vector<double> exp_q(k * d), sum_q(k), beta(n * k), shares(n * k), alpha_shares(k);
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t r = 0; r < d; ++r) {
      exp_q[j * d + r] = exp(q[j * d + r]);
      sum_q[j] += q[j * d + r];
    }
  }
  double value = 0;
#pragma omp parallel for reduction(+ : value)
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> y(d);
    for (int64_t j = 0; j < k; ++j) {
      distance(d, x + i * d, mu + j * d, &exp_q[j * d], l + j * lower, y.data());
      double norm = 0;
      for (double entry : y) norm += entry * entry;
      beta[i * k + j] = alpha[j] + sum_q[j] - 0.5 * norm;
    }
    value += shares_of(k, &beta[i * k], &shares[i * k]);
  }
  value += constant - static_cast<double>(n) * shares_of(k, alpha, alpha_shares.data());
  double prior = 0;
#pragma omp parallel for reduction(+ : prior)
  for (int64_t j = 0; j < k; ++j) {
    std::vector<double> y(d), back(d);
    double* of_mu = g_mu + j * d;
    double* of_q = g_q + j * d;
    double* of_l = g_l + j * lower;
    std::fill(of_mu, of_mu + d, 0.0);
    std::fill(of_l, of_l + lower, 0.0);
    std::fill(back.begin(), back.end(), 0.0);  // of the diagonal
    double members = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double share = shares[i * k + j];
      members += share;
      const double* row = x + i * d;
      distance(d, row, mu + j * d, &exp_q[j * d], l + j * lower, y.data());
      for (int64_t c = 0; c < d; ++c) {
        const double difference = row[c] - mu[j * d + c];
        const int64_t at = column(d, c);
        double to_mu = exp_q[j * d + c] * y[c];
        back[c] -= share * y[c] * difference;
        for (int64_t r = c + 1; r < d; ++r) {
          to_mu += l[j * lower + at + r - c - 1] * y[r];
          of_l[at + r - c - 1] -= share * y[r] * difference;
        }
        of_mu[c] += share * to_mu;
      }
    }
    g_alpha[j] = members - static_cast<double>(n) * alpha_shares[j];
    for (int64_t r = 0; r < d; ++r) {
      const double diagonal = exp_q[j * d + r];
      of_q[r] = (back[r] - square(gamma) * diagonal) * diagonal + members + m;
      prior -= 0.5 * square(gamma * diagonal);
    }
    for (int64_t e = 0; e < lower; ++e) {
      of_l[e] -= square(gamma) * l[j * lower + e];
      prior -= 0.5 * square(gamma * l[j * lower + e]);
    }
    prior += m * sum_q[j];
  }
  return value + prior;
}

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
