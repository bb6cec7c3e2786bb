// seed_of_iteration: the seeds of random draws inside loops, the same for builders, backends and
// explanations.
#pragma once

#include <cstdint>

namespace pullback {

// The seed of a draw in iteration `position` of a loop, by splitmix64 (Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators", 2014).
constexpr int64_t seed_of_iteration(int64_t seed, int64_t position) {
  uint64_t z =
      static_cast<uint64_t>(seed) + (static_cast<uint64_t>(position) + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return static_cast<int64_t>(z ^ z >> 31);
}

}  // namespace pullback
