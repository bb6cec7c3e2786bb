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

// Elements of the Poisson and binomial distributions, as above; NaN for invalid parameters.
void draw_poisson(const DrawOf& first, int64_t n, const double* mean, int64_t step, double* out);
void draw_binomial(const DrawOf& first, int64_t n, const double* trials, int64_t trials_step,
                   const double* p, int64_t p_step, double* out);

}  // namespace pullback
