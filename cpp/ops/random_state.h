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
RandomState state_of_source(RandomSource source);
// Raises while a function is traced.
void set_state_of_source(RandomSource source, RandomState state);
// The seed of a source, and the seed of its n-th child.
uint64_t seed_of(RandomSource source);
uint64_t seed_of_child(uint64_t seed, int64_t n);

// Sets the state of the module's sequence; returns the previous state.
RandomState exchange_random_state(RandomState next);

}  // namespace pullback
