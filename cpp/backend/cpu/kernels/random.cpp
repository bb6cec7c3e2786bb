// Blocks of random numbers, kRandomBlock at a time. The bits are equal for all instruction sets:
// integers, and floating point without fused multiply-add (PULLBACK_NO_FMA). Four words are one
// Philox block:
//   uniform float32  word i           24 bits          uniform float64  words 2i, 2i+1   53 bits
//   exponential      -log of the words of uniform, for float32 of 32 bits; never of 0 or 1
//   normal           Box-Muller on the neighbours 2i and 2i+1, computed in float64
//
// Compiled once per instruction set, flags as in elementwise.h.
#define PULLBACK_NO_FMA

#include "backend/cpu/kernels/philox.h"
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/unit.h"
#include "backend/cpu/kernels/vec_math.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

constexpr int64_t kBatch = 64;  // Philox blocks; the words are stored by position, so that loops
                                // vectorise

struct Batch {
  uint32_t x0[kBatch], x1[kBatch], x2[kBatch], x3[kBatch];
};

void fill(Batch& b, int64_t seed, int64_t counter, int64_t first) {
  for (int64_t i = 0; i < kBatch; ++i) {
    const PhiloxWords w = philox(seed, counter, static_cast<uint64_t>(first + i));
    b.x0[i] = w.x[0];
    b.x1[i] = w.x[1];
    b.x2[i] = w.x[2];
    b.x3[i] = w.x[3];
  }
}

struct Pair {
  double a, b;
};
// `first` in (0, 1), `turn` in [0, 1).
PULLBACK_INLINE Pair box_muller(double first, double turn) {
  const double radius = m::sqrt(-2.0 * m::log(first));
  const double angle = 6.283185307179586 * turn;
  return {radius * m::cos_small(angle), radius * m::sin_small(angle)};
}

void uniform32(int64_t seed, int64_t counter, int64_t first, void* out) noexcept {
  auto* y = static_cast<float*>(out);
  Batch b;
  for (int64_t done = 0; done < kRandomBlock; done += 4 * kBatch) {
    fill(b, seed, counter, first / 4 + done / 4);
    for (int64_t i = 0; i < kBatch; ++i) {
      y[done + 4 * i] = unit32(b.x0[i]);
      y[done + 4 * i + 1] = unit32(b.x1[i]);
      y[done + 4 * i + 2] = unit32(b.x2[i]);
      y[done + 4 * i + 3] = unit32(b.x3[i]);
    }
  }
}

void uniform64(int64_t seed, int64_t counter, int64_t first, void* out) noexcept {
  auto* y = static_cast<double*>(out);
  Batch b;
  for (int64_t done = 0; done < kRandomBlock; done += 2 * kBatch) {
    fill(b, seed, counter, first / 2 + done / 2);
    for (int64_t i = 0; i < kBatch; ++i) {
      y[done + 2 * i] = unit64(b.x0[i], b.x1[i]);
      y[done + 2 * i + 1] = unit64(b.x2[i], b.x3[i]);
    }
  }
}

void normal32(int64_t seed, int64_t counter, int64_t first, void* out) noexcept {
  auto* y = static_cast<float*>(out);
  Batch b;
  for (int64_t done = 0; done < kRandomBlock; done += 4 * kBatch) {
    fill(b, seed, counter, first / 4 + done / 4);
    for (int64_t i = 0; i < kBatch; ++i) {
      const Pair p = box_muller(open_unit32(b.x0[i]), b.x1[i] * 0x1p-32);
      const Pair q = box_muller(open_unit32(b.x2[i]), b.x3[i] * 0x1p-32);
      y[done + 4 * i] = static_cast<float>(p.a);
      y[done + 4 * i + 1] = static_cast<float>(p.b);
      y[done + 4 * i + 2] = static_cast<float>(q.a);
      y[done + 4 * i + 3] = static_cast<float>(q.b);
    }
  }
}

void normal64(int64_t seed, int64_t counter, int64_t first, void* out) noexcept {
  auto* y = static_cast<double*>(out);
  Batch b;
  for (int64_t done = 0; done < kRandomBlock; done += 2 * kBatch) {
    fill(b, seed, counter, first / 2 + done / 2);
    for (int64_t i = 0; i < kBatch; ++i) {
      const Pair p = box_muller(open_unit64(b.x0[i], b.x1[i]), one_to_two(b.x2[i], b.x3[i]) - 1.0);
      y[done + 2 * i] = p.a;
      y[done + 2 * i + 1] = p.b;
    }
  }
}

void exponential32(int64_t seed, int64_t counter, int64_t first, void* out) noexcept {
  auto* y = static_cast<float*>(out);
  Batch b;
  for (int64_t done = 0; done < kRandomBlock; done += 4 * kBatch) {
    fill(b, seed, counter, first / 4 + done / 4);
    for (int64_t i = 0; i < kBatch; ++i) {
      y[done + 4 * i] = static_cast<float>(-m::rough_log(open_unit32(b.x0[i])));
      y[done + 4 * i + 1] = static_cast<float>(-m::rough_log(open_unit32(b.x1[i])));
      y[done + 4 * i + 2] = static_cast<float>(-m::rough_log(open_unit32(b.x2[i])));
      y[done + 4 * i + 3] = static_cast<float>(-m::rough_log(open_unit32(b.x3[i])));
    }
  }
}

void exponential64(int64_t seed, int64_t counter, int64_t first, void* out) noexcept {
  auto* y = static_cast<double*>(out);
  Batch b;
  for (int64_t done = 0; done < kRandomBlock; done += 2 * kBatch) {
    fill(b, seed, counter, first / 2 + done / 2);
    for (int64_t i = 0; i < kBatch; ++i) {
      y[done + 2 * i] = -m::log(open_unit64(b.x0[i], b.x1[i]));
      y[done + 2 * i + 1] = -m::log(open_unit64(b.x2[i], b.x3[i]));
    }
  }
}

}  // namespace

namespace PULLBACK_KERNELS {
constinit const RandomTable kRandomTable = {
    {&uniform32, &uniform64}, {&normal32, &normal64}, {&exponential32, &exponential64}};
}

}  // namespace pullback
