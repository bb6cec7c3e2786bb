// Draws of whole numbers: integers in a range, Poisson and binomial distributions. Element i is a
// function of (seed, counter, i) and its parameters. Compiled once, for every processor.
#pragma once

#include <cstdint>

#include "backend/cpu/kernels/integer_draws.h"

namespace pullback {

// Elements first … first + n - 1, uniform in low … last; low if last is less. Entries of low and
// last are a step, 0 or 1, apart.
void draw_integers(const DrawOf& first, int64_t n, const int64_t* low, int64_t low_step,
                   const int64_t* last, int64_t last_step, int64_t* out);

// A hat function (2 a / us + b) u + center, as in both papers of Hoermann.
struct Hat {
  double a, b, center, squeeze, scale;
};

// Distributions, with constants shared by all their draws. NaN for invalid parameters.
class Poisson {
 public:
  explicit Poisson(double mean);
  bool is(double mean) const { return mean == mean_; }
  double draw(const DrawOf& of) const;

 private:
  double mean_, none_ = 0;  // none_: probability of 0
  Hat hat_{};
};

class Binomial {
 public:
  Binomial(double n, double p);
  bool is(double n, double p) const { return n == n_ && p == given_; }
  double draw(const DrawOf& of) const;

 private:
  double n_, given_, p_, none_ = 0, log_mode_ = 0;
  bool known_;
  Hat hat_{};
};

}  // namespace pullback
