// The states of random sequences: of the module, of generators, and of the iterations of a loop.
// Under the interpreter lock.
#pragma once

#include <cstdint>

namespace pullback {

struct RandomState {
  uint64_t seed;
  int64_t counter;
};

// The number of a sequence of draws. The sequence of the module always exists.
using RandomSource = int64_t;
constexpr RandomSource kModuleSource = 0;

// A new source at its beginning. Raises while a function is traced.
RandomSource new_random_source(uint64_t seed);
// Functions traced with the source can still draw from it.
void free_random_source(RandomSource source);
// The seed of a source, and the seed of its n-th child.
uint64_t seed_of(RandomSource source);
uint64_t seed_of_child(uint64_t seed, int64_t n);

// Sets the state of the module's sequence; returns the previous state.
RandomState exchange_random_state(RandomState next);

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
