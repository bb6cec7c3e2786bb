// Elements one by one, by the functions that kernels of GPUs have too.
#define PULLBACK_NO_FMA

#include "backend/cpu/data/random_counts.h"

#include "backend/cpu/kernels/count_draws.h"

namespace pullback {

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

// Neighbouring elements often have the same parameters, so the last distribution is reused.
void draw_poisson(const DrawOf& first, int64_t n, const double* mean, int64_t step, double* out) {
  Poisson law(mean[0]);
  for (int64_t i = 0; i < n; ++i) {
    if (!law.is(mean[i * step])) law = Poisson(mean[i * step]);
    out[i] = law.draw({first.seed, first.counter, first.element + i});
  }
}

void draw_binomial(const DrawOf& first, int64_t n, const double* trials, int64_t trials_step,
                   const double* p, int64_t p_step, double* out) {
  Binomial law(trials[0], p[0]);
  for (int64_t i = 0; i < n; ++i) {
    const double count = trials[i * trials_step], chance = p[i * p_step];
    if (!law.is(count, chance)) law = Binomial(count, chance);
    out[i] = law.draw({first.seed, first.counter, first.element + i});
  }
}

}  // namespace pullback
