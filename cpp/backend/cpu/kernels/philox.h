// Philox4x32-10 (Salmon et al., SC 2011): four random words from a key and a 128-bit counter.
#pragma once

#include "backend/cpu/kernels/vec_exp.h"

namespace pullback {
namespace {

struct PhiloxWords {
  uint32_t x[4];
};

// The counter consists of the block number and the draw's counter; the key is the seed.
PULLBACK_INLINE PhiloxWords philox(int64_t seed, int64_t counter, uint64_t block) {
  uint32_t x0 = static_cast<uint32_t>(block), x1 = static_cast<uint32_t>(block >> 32);
  uint32_t x2 = static_cast<uint32_t>(counter);
  uint32_t x3 = static_cast<uint32_t>(static_cast<uint64_t>(counter) >> 32);
  uint32_t k0 = static_cast<uint32_t>(seed);
  uint32_t k1 = static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * x0;
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * x2;
    x0 = static_cast<uint32_t>(p1 >> 32) ^ x1 ^ k0;
    x2 = static_cast<uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x1 = static_cast<uint32_t>(p1);
    x3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{x0, x1, x2, x3}};
}

}  // namespace
}  // namespace pullback
