// For small means, sums the probabilities until they exceed a uniform number. For large ones,
// Hoermann's transformed rejection ("The transformed rejection method for generating Poisson random
// variables", 1993, and "The generation of binomial random variates", 1993). Probabilities use
// Loader's saddle-point expansion ("Fast and accurate computation of binomial probabilities",
// 2000), in which no large numbers cancel.
#include "backend/cpu/data/random_counts.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/unit.h"
#include "backend/cpu/special/gamma_parts.h"

namespace pullback {
namespace {

using special::less_log1p;

constexpr double kLargeMean = 10;
constexpr double kHalfLog2Pi = 0.91893853320467274178;

// log(k!) minus Stirling's formula without its constant.
double stirling_gap(double k) {
  if (k >= special::kFar) return special::stirling_rest(k);
  return special::log_gamma_positive(k + 1) - (k + 0.5) * std::log(k) + k - kHalfLog2Pi;
}

// k log(k / mean) + mean - k
double deviance(double k, double mean) {
  if (k == 0) return mean;
  const double difference = (mean - k) / k;
  return k * (difference < 0.5 ? less_log1p(difference) : difference - std::log(mean / k));
}

double log_poisson(double k, double mean) {
  if (k == 0) return -mean;
  return -deviance(k, mean) - stirling_gap(k) - kHalfLog2Pi - 0.5 * std::log(k);
}

double log_binomial(double k, double n, double p, double q) {
  if (k == 0) return n * std::log1p(-p);
  if (k == n) return n * std::log(p);
  return stirling_gap(n) - stirling_gap(k) - stirling_gap(n - k) - deviance(k, n * p) -
         deviance(n - k, n * q) - kHalfLog2Pi - 0.5 * std::log(k / n * (n - k));
}

// The first k at which the sum of terms exceeds u. The first term is `first`, and each further one
// is ratio(k) times the one before.
template <class Ratio>
double added_up(double u, double first, double most, const Ratio& ratio) {
  double k = 0, term = first;
  while (u > term && k < most) {
    u -= term;
    ++k;
    term *= ratio(k);
  }
  return k;
}

template <class LogShare>
double rejected(const DrawOf& of, const Hat& hat, double most, const LogShare& log_share) {
  double k = 0;
  for (int64_t t = 0; t < kMostBlocks; ++t) {
    const PhiloxWords w = block(of, t);
    const double u = open_unit64(w.x[0], w.x[1]) - 0.5, v = open_unit64(w.x[2], w.x[3]);
    const double us = 0.5 - std::fabs(u);
    k = std::floor((2 * hat.a / us + hat.b) * u + hat.center);
    if (us >= 0.07 && v <= hat.squeeze) break;
    if (k < 0 || k > most || (us < 0.013 && v > us)) continue;
    if (std::log(v * hat.scale / (hat.a / (us * us) + hat.b)) <= log_share(k)) break;
  }
  return k;
}

}  // namespace

// The words are those of random_uniform: elements 2 i and 2 i + 1 share block i. Later attempts
// have blocks of their own.
void draw_integers(const DrawOf& first, int64_t n, const int64_t* low, int64_t low_step,
                   const int64_t* last, int64_t last_step, int64_t* out) {
  constexpr int64_t kBlocks = 64;
  uint64_t words[2 * kBlocks];
  int64_t i = 0;
  while (i < n) {
    const int64_t begin = (first.element + i) / 2;
    for (int64_t k = 0; k < kBlocks; ++k) {
      const PhiloxWords w = philox(first.seed, first.counter, static_cast<uint64_t>(begin + k));
      words[2 * k] = long_word(w.x[0], w.x[1]);
      words[2 * k + 1] = long_word(w.x[2], w.x[3]);
    }
    for (int64_t k = first.element + i - 2 * begin; k < 2 * kBlocks && i < n; ++k, ++i) {
      const DrawOf of{first.seed, first.counter, first.element + i};
      out[i] = integer_from(words[k], of, low[i * low_step], last[i * last_step]);
    }
  }
}

Poisson::Poisson(double mean) : mean_(mean) {
  if (mean < kLargeMean) {
    none_ = std::exp(-mean);
    return;
  }
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  hat_ = {a, b, mean + 0.43, 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4)};
}

double Poisson::draw(const DrawOf& of) const {
  if (!(mean_ >= 0 && mean_ < special::kInf<double>)) return special::kNan<double>;
  if (mean_ < kLargeMean) {
    const PhiloxWords w = block(of, 0);
    return added_up(open_unit64(w.x[0], w.x[1]), none_, 1000, [&](double k) { return mean_ / k; });
  }
  return rejected(of, hat_, special::kInf<double>, [&](double k) { return log_poisson(k, mean_); });
}

Binomial::Binomial(double n, double p)
    : n_(n),
      given_(p),
      p_(p > 0.5 ? 1 - p : p),
      known_(n >= 0 && std::floor(n) == n && p >= 0 && p <= 1 && n < special::kInf<double>) {
  if (n * p_ < kLargeMean) {
    none_ = std::exp(n * std::log1p(-p_));
    return;
  }
  const double q = 1 - p_, deviation = std::sqrt(n * p_ * q);
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p_;
  hat_ = {a, b, n * p_ + 0.5, 0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation};
  log_mode_ = log_binomial(std::floor((n + 1) * p_), n, p_, q);
}

double Binomial::draw(const DrawOf& of) const {
  if (!known_) return special::kNan<double>;
  const double q = 1 - p_;
  double k = 0;
  if (n_ * p_ < kLargeMean) {
    const PhiloxWords w = block(of, 0);
    k = added_up(open_unit64(w.x[0], w.x[1]), none_, std::min(n_, 1000.0),
                 [&](double i) { return (n_ - i + 1) / i * (p_ / q); });
  } else {
    k = rejected(of, hat_, n_, [&](double i) { return log_binomial(i, n_, p_, q) - log_mode_; });
  }
  return given_ > 0.5 ? n_ - k : k;
}

}  // namespace pullback
