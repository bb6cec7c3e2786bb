// Blocks of random numbers, kRandomBlock at a time. The bits are equal for all instruction sets:
// integers, and floating point without fused multiply-add (PULLBACK_NO_FMA). Four words are one
// Philox block; draws.h has its elements.
//
// Compiled once per instruction set, flags as in elementwise.h.
#define PULLBACK_NO_FMA

#include "backend/cpu/kernels/draws.h"
#include "backend/cpu/kernels/table.h"

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

template <class T, void draw(const PhiloxWords&, T*)>
void fill_block(int64_t seed, int64_t counter, int64_t first, void* out) noexcept {
  constexpr int64_t kEach = 16 / sizeof(T);  // elements of a Philox block
  auto* y = static_cast<T*>(out);
  Batch b;
  for (int64_t done = 0; done < kRandomBlock; done += kEach * kBatch) {
    fill(b, seed, counter, (first + done) / kEach);
    for (int64_t i = 0; i < kBatch; ++i) {
      draw({{b.x0[i], b.x1[i], b.x2[i], b.x3[i]}}, y + done + kEach * i);
    }
  }
}

}  // namespace

namespace PULLBACK_KERNELS {
constinit const RandomTable kRandomTable = {
    {&fill_block<float, uniform>, &fill_block<double, uniform>},
    {&fill_block<float, normal>, &fill_block<double, normal>},
    {&fill_block<float, exponential>, &fill_block<double, exponential>}};
}

}  // namespace pullback
