// Runs random draws and ranges. Element i is a pure function of (seed, counter, i), so the numbers
// do not depend on the cut into chunks, nor on the processor (kernels/random.cpp). With parameters
// it is a function of these too (kernels/random_gamma.cpp, random_counts.cpp). A permutation is a
// Fisher-Yates shuffle; its bounded integers are the high half of a 64-bit product.
#include "backend/cpu/data/random_run.h"

#include <algorithm>

#include "backend/cpu/data/random_counts.h"
#include "backend/cpu/kernels/integer_draws.h"
#include "backend/cpu/kernels/table.h"
#include "base/threads.h"

namespace pullback {
namespace {

// Whole blocks go straight to the output, the last one through a buffer.
void fill_random(RandomKernel kernel, int64_t seed, int64_t counter, int64_t size, int64_t element,
                 char* out) {
  const int64_t blocks = ceil_div(size, kRandomBlock);
  const int64_t per_chunk = chunk_size(blocks, kRandomBlock);
  parallel_for(ceil_div(blocks, per_chunk), size > 32 * 1024, [&](int64_t chunk) {
    for (int64_t p = chunk * per_chunk; p < std::min((chunk + 1) * per_chunk, blocks); ++p) {
      const int64_t first = p * kRandomBlock;
      const int64_t n = std::min(kRandomBlock, size - first);
      if (n == kRandomBlock) {
        kernel(seed, counter, first, out + first * element);
      } else {
        alignas(64) char block[kRandomBlock * 8];
        kernel(seed, counter, first, block);
        std::copy_n(block, n * element, out + first * element);
      }
    }
  });
}

template <class T>
void fill_iota(T* out, int64_t n) {
  const int64_t per_chunk = chunk_size(n, 1);
  parallel_for(ceil_div(n, per_chunk), n > 256 * 1024, [&](int64_t chunk) {
    for (int64_t i = chunk * per_chunk; i < std::min((chunk + 1) * per_chunk, n); ++i) {
      out[i] = static_cast<T>(i);
    }
  });
}

void fill_permutation(int64_t seed, int64_t counter, int64_t n, int64_t* out) {
  fill_iota(out, n);
  for (int64_t i = n - 1; i > 0; --i) {
    if ((n - 1 - i) % 65536 == 0 && stop_requested()) return;
    std::swap(out[i], out[exchanged_with(seed, counter, i)]);
  }
}

// A parameter per element, or one for all.
template <class T>
struct Parameter {
  const T* data;
  int64_t step;
  Parameter(const View& view, const Slots& slots)
      : data(reinterpret_cast<const T*>(slots.at(view))), step(is_one_number(view) ? 0 : 1) {}
};

// Calls f(first, n) for chunks of all elements.
template <class F>
void for_each_chunk(int64_t size, const F& f) {
  constexpr int64_t kChunk = 4096;
  parallel_for(ceil_div(size, kChunk), size > kChunk,
               [&](int64_t chunk) { f(chunk * kChunk, std::min(kChunk, size - chunk * kChunk)); });
}

void fill_gamma(const Random& random, const Slots& slots, int64_t seed, int64_t counter) {
  const bool log = random.op == Op::random_log_gamma, wide = random.out.dtype == DType::Float64;
  const GammaKernel kernel = kernels().gammas.of[log][wide];
  const Parameter<char> a(random.in[0], slots);
  const int64_t element = size_of(random.out.dtype);
  char* out = slots.at(random.out);
  for_each_chunk(random.out.shape.size(), [&](int64_t first, int64_t n) {
    kernel(seed, counter, first, n, a.data + first * a.step * element, a.step,
           out + first * element);
  });
}

void fill_integers(const Random& random, const Slots& slots, int64_t seed, int64_t counter) {
  const Parameter<int64_t> low(random.in[0], slots), last(random.in[1], slots);
  auto* out = reinterpret_cast<int64_t*>(slots.at(random.out));
  for_each_chunk(random.out.shape.size(), [&](int64_t first, int64_t n) {
    draw_integers({seed, counter, first}, n, low.data + first * low.step, low.step,
                  last.data + first * last.step, last.step, out + first);
  });
}

void fill_poisson(const Random& random, const Slots& slots, int64_t seed, int64_t counter) {
  const Parameter<double> mean(random.in[0], slots);
  auto* out = reinterpret_cast<double*>(slots.at(random.out));
  for_each_chunk(random.out.shape.size(), [&](int64_t first, int64_t n) {
    draw_poisson({seed, counter, first}, n, mean.data + first * mean.step, mean.step, out + first);
  });
}

void fill_binomial(const Random& random, const Slots& slots, int64_t seed, int64_t counter) {
  const Parameter<double> trials(random.in[0], slots), p(random.in[1], slots);
  auto* out = reinterpret_cast<double*>(slots.at(random.out));
  for_each_chunk(random.out.shape.size(), [&](int64_t first, int64_t n) {
    draw_binomial({seed, counter, first}, n, trials.data + first * trials.step, trials.step,
                  p.data + first * p.step, p.step, out + first);
  });
}

RandomKernel kernel_of(const Random& random) {
  const RandomTable& table = kernels().random;
  const int wide = random.out.dtype == DType::Float64;
  if (random.op == Op::random_normal) return table.normal[wide];
  return random.op == Op::random_exponential ? table.exponential[wide] : table.uniform[wide];
}

}  // namespace

Status run_random(const Random& random, const Slots& slots) {
  const int64_t seed = slots.scalar(random.seed).i;
  const int64_t counter = slots.scalar(random.counter).i;
  const int64_t size = random.out.shape.size();
  char* out = slots.at(random.out);
  if (size == 0) return {};
  if (random.op == Op::permutation) {
    fill_permutation(seed, counter, size, reinterpret_cast<int64_t*>(out));
    return {};
  }
  switch (random.op) {
    case Op::random_gamma:
    case Op::random_log_gamma:
      fill_gamma(random, slots, seed, counter);
      break;
    case Op::random_integers:
      fill_integers(random, slots, seed, counter);
      break;
    case Op::random_poisson:
      fill_poisson(random, slots, seed, counter);
      break;
    case Op::random_binomial:
      fill_binomial(random, slots, seed, counter);
      break;
    default:
      fill_random(kernel_of(random), seed, counter, size, size_of(random.out.dtype), out);
  }
  return {};
}

Status run_iota(const Iota& iota, const Slots& slots) {
  char* out = slots.at(iota.out);
  const int64_t n = iota.out.shape.size();
  switch (iota.out.dtype) {
    case DType::Bool:
      for (int64_t i = 0; i < n; ++i) out[i] = i != 0;
      break;
    case DType::Int32:
      fill_iota(reinterpret_cast<int32_t*>(out), n);
      break;
    case DType::Int64:
      fill_iota(reinterpret_cast<int64_t*>(out), n);
      break;
    case DType::Float32:
      fill_iota(reinterpret_cast<float*>(out), n);
      break;
    case DType::Float64:
      fill_iota(reinterpret_cast<double*>(out), n);
      break;
    default:  // computed in int64 and cast
      break;
  }
  return {};
}

}  // namespace pullback
