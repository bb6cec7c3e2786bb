// Sizes of blocks in pools of memory: four per doubling, so that at most a quarter of a block is
// not used.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace pullback {

struct SizeClass {
  int index;      // rises with the size; 3 for 64 bytes, the smallest
  int64_t bytes;  // of a block, a multiple of 64
};

constexpr SizeClass size_class(int64_t bytes) {
  const auto n = static_cast<uint64_t>(std::max<int64_t>(bytes, 64)) - 1;
  const int doubling = std::bit_width(n) - 1;  // 2^doubling <= n
  // Quarters are multiples of 64 bytes only from 256 bytes on; below, a class is a whole doubling.
  const int quarter = doubling < 8 ? 3 : static_cast<int>(n >> (doubling - 2) & 3);
  const int64_t size = (int64_t{4} + quarter + 1) << (doubling - 2);
  return {(doubling - 5) * 4 + quarter, size};
}

}  // namespace pullback
