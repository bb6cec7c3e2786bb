// Conversions of float16 and bfloat16, which are stored as words of 16 bits.
//
// float32 is rounded to float16 and bfloat16 by an addition to its bits, half to even; a carry
// correctly increases the exponent. float64 is first converted to the float32 whose last bit
// records that digits were lost, so that the result is rounded once. The rules of vec_exp.h apply.
#pragma once

#include "backend/cpu/kernels/vec_exp.h"

namespace pullback {
namespace {
namespace m {

PULLBACK_INLINE float from_float16(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  const uint32_t finite = bits_as<uint32_t>(bits_as<float>(magnitude) * 0x1p112f);
  const uint32_t value = magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : finite;
  return bits_as<float>(value | static_cast<uint32_t>(half & 0x8000) << 16);
}
PULLBACK_INLINE uint16_t to_float16(float a) {
  const auto bits = bits_as<uint32_t>(a);
  const uint32_t magnitude = bits & 0x7fffffff;
  const uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  // The last place of the sum is the unit of subnormal numbers.
  const uint32_t small = bits_as<uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3f000000;
  const uint32_t finite = magnitude < 0x38800000 ? small : normal;
  const uint32_t bounded = magnitude >= 0x47800000 ? 0x7c00 : finite;
  const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  return static_cast<uint16_t>((magnitude > 0x7f800000 ? nan : bounded) | (bits >> 16 & 0x8000));
}
PULLBACK_INLINE float from_bfloat16(uint16_t half) {
  return bits_as<float>(static_cast<uint32_t>(half) << 16);
}
PULLBACK_INLINE uint16_t to_bfloat16(float a) {
  const auto bits = bits_as<uint32_t>(a);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}
// Rounds towards zero, and sets the last bit if digits were lost.
PULLBACK_INLINE float to_odd(double a) {
  const auto near = static_cast<float>(a);
  const double back = near;
  const uint32_t lost = (back < a) | (back > a);
  const uint32_t away = magnitude(back) > magnitude(a);
  return bits_as<float>((bits_as<uint32_t>(near) - away) | lost);
}

}  // namespace m
}  // namespace
}  // namespace pullback
