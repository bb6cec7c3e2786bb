// Random words as numbers between 0 and 1.
#pragma once

#include "backend/cpu/kernels/vec_exp.h"

namespace pullback {
namespace {

// In [0, 1).
PULLBACK_INLINE float unit32(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

// The top 52 bits as a number in [1, 2): cheaper to vectorise than a conversion of 64 bits.
PULLBACK_INLINE double one_to_two(uint32_t low, uint32_t high) {
  const uint64_t word = low | static_cast<uint64_t>(high) << 32;
  return m::bits_as<double>((word >> 12) | 0x3ff0000000000000u);
}
PULLBACK_INLINE double unit64(uint32_t low, uint32_t high) {
  return one_to_two(low, high) - 1.0 + static_cast<double>(low >> 11 & 1) * 0x1p-53;
}

// In (0, 1).
PULLBACK_INLINE double open_unit32(uint32_t word) { return (word + 0.5) * 0x1p-32; }
PULLBACK_INLINE double open_unit64(uint32_t low, uint32_t high) {
  return one_to_two(low, high) - (1.0 - 0x1p-53);
}

}  // namespace
}  // namespace pullback
