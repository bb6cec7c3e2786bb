// Random integers below a bound, and the exchanges of a shuffle, for the processor and for kernels
// of GPUs.
#pragma once

#include "backend/cpu/kernels/philox.h"

namespace pullback {

// One element of a draw.
struct DrawOf {
  int64_t seed, counter, element;
};

namespace {

// Block t of random words for an element.
PULLBACK_INLINE PhiloxWords block(const DrawOf& of, int64_t t) {
  return philox(of.seed, of.counter,
                static_cast<uint64_t>(of.element) | static_cast<uint64_t>(t) << 48);
}
constexpr int64_t kMostBlocks = 0xffff;

PULLBACK_INLINE uint64_t long_word(uint32_t low, uint32_t high) {
  return low | static_cast<uint64_t>(high) << 32;
}

// The upper half of a product of 128 bits.
PULLBACK_INLINE uint64_t upper_product(uint64_t a, uint64_t b) {
#if defined(__CUDACC_RTC__)
  return __umul64hi(a, b);
#else
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
#endif
}

// Uniform in low … last; low if last is less. Lemire, "Fast random integer generation in an
// interval", 2019.
PULLBACK_INLINE int64_t integer_from(uint64_t word, const DrawOf& of, int64_t low, int64_t last) {
  if (last <= low) return low;
  const uint64_t range = static_cast<uint64_t>(last) - static_cast<uint64_t>(low) + 1;
  if (range == 0) return static_cast<int64_t>(word);  // the full range of 64 bits
  if (word * range < range) {
    const uint64_t least = (0 - range) % range;
    for (int64_t t = 1; word * range < least && t < kMostBlocks; ++t) {
      const PhiloxWords w = block(of, t);
      word = long_word(w.x[0], w.x[1]);
    }
  }
  return static_cast<int64_t>(static_cast<uint64_t>(low) + upper_product(word, range));
}

// The position in 0 … i with which a permutation exchanges position i: from the last position to
// the first, a Fisher-Yates shuffle.
PULLBACK_INLINE int64_t exchanged_with(int64_t seed, int64_t counter, int64_t i) {
  const PhiloxWords w = philox(seed, counter, static_cast<uint64_t>(i));
  const uint64_t word = long_word(w.x[0], w.x[1]);
  return static_cast<int64_t>(upper_product(word, static_cast<uint64_t>(i) + 1));
}

}  // namespace
}  // namespace pullback
