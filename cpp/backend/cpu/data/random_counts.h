// Draws of whole numbers: integers of a range, the Poisson and the binomial distribution. Element i
// is a function of (seed, counter, i) and its parameters. Compiled once, for every processor.
#pragma once

#include <cstdint>

namespace pullback {

struct DrawOf {
  int64_t seed, counter, element;
};

// Of elements first … first + n - 1: low to last, each equally likely; low where last is below it.
// Entries of low and last are a step, 0 or 1, apart.
void draw_integers(const DrawOf& first, int64_t n, const int64_t* low, int64_t low_step,
                   const int64_t* last, int64_t last_step, int64_t* out);

// A hat of the form (2 a / us + b) u + center, as both of Hoermann's papers have it.
struct Hat {
  double a, b, center, squeeze, scale;
};

// Distributions with what all their draws need. NaN where parameters have no meaning.
class Poisson {
 public:
  explicit Poisson(double mean);
  bool is(double mean) const { return mean == mean_; }
  double draw(const DrawOf& of) const;

 private:
  double mean_, none_ = 0;  // the share of 0
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
