// Where the sequence of random draws stands, for those who want a sequence of their own, and the
// sequences of a loop's iterations.
#pragma once

#include <cstdint>

namespace pullback {

struct RandomState {
  uint64_t seed;
  int64_t counter;
};

// Goes on from `next`; gives what would have come.
RandomState exchange_random_state(RandomState next);

// What the seed of a draw is in iteration `position` of a loop: by splitmix64 (Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators", 2014).
constexpr int64_t seed_of_iteration(int64_t seed, int64_t position) {
  uint64_t z =
      static_cast<uint64_t>(seed) + (static_cast<uint64_t>(position) + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return static_cast<int64_t>(z ^ z >> 31);
}

}  // namespace pullback
