// Where the sequence of random draws stands, for those who want a sequence of their own.
#pragma once

#include <cstdint>

namespace pullback {

struct RandomState {
  uint64_t seed;
  int64_t counter;
};

// Goes on from `next`; gives what would have come.
RandomState exchange_random_state(RandomState next);

}  // namespace pullback
