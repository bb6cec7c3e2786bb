// Draws of the Poisson and the binomial distribution, for the processor and for kernels of GPUs.
// The bits are equal everywhere if PULLBACK_NO_FMA is defined.
//
// For small means, sums the probabilities until they exceed a uniform number. For large ones,
// Hoermann's transformed rejection ("The transformed rejection method for generating Poisson random
// variables", 1993, and "The generation of binomial random variates", 1993). Probabilities use
// Loader's saddle-point expansion ("Fast and accurate computation of binomial probabilities",
// 2000), in which no large numbers cancel.
#pragma once

#include "backend/cpu/kernels/gamma_draws.h"

namespace pullback {
namespace {

constexpr double kLargeMean = 10.0;
constexpr double kHalfLog2Pi = 0.91893853320467274178;

// log(k!) minus Stirling's formula, by k; that of 0 is not used.
constexpr double kStirlingGaps[] = {0.0,
                                    0.08106146679532725822,
                                    0.041340695955409294094,
                                    0.027677925684998339149,
                                    0.020790672103765093112,
                                    0.016644691189821192163,
                                    0.013876128823070747999,
                                    0.011896709945891770095,
                                    0.010411265261972096497,
                                    0.0092554621827127329177,
                                    0.0083305634333628712565,
                                    0.007573675487951840795,
                                    0.0069428401072095298657,
                                    0.0064089941880042070684,
                                    0.0059513701127588477356,
                                    0.005554733551962801371};
constexpr double kFarGap = 16.0;

PULLBACK_INLINE double stirling_gap(double k) {
  if (k < kFarGap) return kStirlingGaps[static_cast<int64_t>(k)];
  const double r = 1.0 / k;
  return r * m::polynomial(r * r, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188);
}

// x - log(1 + x)
PULLBACK_INLINE double less_log1p(double x) {
  return m::magnitude(x) < 0x1p-7 ? -log1p_less(x) : x - m::log1p(x);
}

// k log(k / mean) + mean - k
PULLBACK_INLINE double deviance(double k, double mean) {
  if (k == 0.0) return mean;
  const double difference = (mean - k) / k;
  return k * (difference < 0.5 ? less_log1p(difference) : difference - m::log(mean / k));
}

PULLBACK_INLINE double log_poisson(double k, double mean) {
  if (k == 0.0) return -mean;
  return -deviance(k, mean) - stirling_gap(k) - kHalfLog2Pi - 0.5 * m::log(k);
}

PULLBACK_INLINE double log_binomial(double k, double n, double p, double q) {
  if (k == 0.0) return n * m::log1p(-p);
  if (k == n) return n * m::log(p);
  return stirling_gap(n) - stirling_gap(k) - stirling_gap(n - k) - deviance(k, n * p) -
         deviance(n - k, n * q) - kHalfLog2Pi - 0.5 * m::log(k / n * (n - k));
}

// A hat function (2 a / us + b) u + center, as in both papers of Hoermann.
struct Hat {
  double a, b, center, squeeze, scale;
};

// The first k at which the sum of terms exceeds a uniform number. The first term is `first`, and
// each further one is ratio(k) times the one before.
template <class Ratio>
PULLBACK_INLINE double added_up(const DrawOf& of, double first, double most, const Ratio& ratio) {
  const PhiloxWords w = block(of, 0);
  double u = open_unit64(w.x[0], w.x[1]), k = 0.0, term = first;
  while (u > term && k < most) {
    u -= term;
    k += 1.0;
    term *= ratio(k);
  }
  return k;
}

template <class LogShare>
PULLBACK_INLINE double rejected(const DrawOf& of, const Hat& hat, double most,
                                const LogShare& log_share) {
  double k = 0.0;
  for (int64_t t = 0; t < kMostBlocks; ++t) {
    const PhiloxWords w = block(of, t);
    const double u = open_unit64(w.x[0], w.x[1]) - 0.5, v = open_unit64(w.x[2], w.x[3]);
    const double us = 0.5 - m::magnitude(u);
    k = m::floor((2.0 * hat.a / us + hat.b) * u + hat.center);
    if (us >= 0.07 && v <= hat.squeeze) break;
    if (k < 0.0 || k > most || (us < 0.013 && v > us)) continue;
    if (m::log(v * hat.scale / (hat.a / (us * us) + hat.b)) <= log_share(k)) break;
  }
  return k;
}

// Distributions, with constants shared by all their draws. NaN for invalid parameters.
class Poisson {
 public:
  PULLBACK_INLINE explicit Poisson(double mean) : mean_(mean) {
    if (mean < kLargeMean) {
      none_ = m::exp(-mean);
      return;
    }
    const double b = 0.931 + 2.53 * m::sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    hat_ = {a, b, mean + 0.43, 0.9277 - 3.6224 / (b - 2.0), 1.1239 + 1.1328 / (b - 3.4)};
  }
  PULLBACK_INLINE bool is(double mean) const { return mean == mean_; }
  PULLBACK_INLINE double draw(const DrawOf& of) const {
    const double mean = mean_;
    if (!(mean >= 0.0 && mean < m::kInfinity<double>)) return m::kNaN<double>;
    if (mean < kLargeMean) {
      return added_up(of, none_, 1000.0, [mean](double k) { return mean / k; });
    }
    return rejected(of, hat_, m::kInfinity<double>,
                    [mean](double k) { return log_poisson(k, mean); });
  }

 private:
  double mean_, none_ = 0.0;  // none_: probability of 0
  Hat hat_{};
};

class Binomial {
 public:
  PULLBACK_INLINE Binomial(double n, double p)
      : n_(n),
        given_(p),
        p_(p > 0.5 ? 1.0 - p : p),
        known_(n >= 0.0 && m::floor(n) == n && p >= 0.0 && p <= 1.0 && n < m::kInfinity<double>) {
    if (!known_) return;
    if (n * p_ < kLargeMean) {
      none_ = m::exp(n * m::log1p(-p_));
      return;
    }
    const double q = 1.0 - p_, deviation = m::sqrt(n * p_ * q);
    const double b = 1.15 + 2.53 * deviation;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p_;
    hat_ = {a, b, n * p_ + 0.5, 0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation};
    log_mode_ = log_binomial(m::floor((n + 1.0) * p_), n, p_, q);
  }
  PULLBACK_INLINE bool is(double n, double p) const { return n == n_ && p == given_; }
  PULLBACK_INLINE double draw(const DrawOf& of) const {
    if (!known_) return m::kNaN<double>;
    const double n = n_, p = p_, q = 1.0 - p_, log_mode = log_mode_;
    double k = 0.0;
    if (n * p < kLargeMean) {
      k = added_up(of, none_, n < 1000.0 ? n : 1000.0,
                   [=](double i) { return (n - i + 1.0) / i * (p / q); });
    } else {
      k = rejected(of, hat_, n, [=](double i) { return log_binomial(i, n, p, q) - log_mode; });
    }
    return given_ > 0.5 ? n - k : k;
  }

 private:
  double n_, given_, p_, none_ = 0.0, log_mode_ = 0.0;
  bool known_;
  Hat hat_{};
};

}  // namespace
}  // namespace pullback
