// The likelihood and the prior of a mixture of Gaussians.

#include <algorithm>
#include <vector>

#include "by_hand.h"

using by_hand::square;
using std::exp;
using std::log;

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
