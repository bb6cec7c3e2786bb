// A random sequence of one thread, used in place of the module's sequence while a graph runs: its
// draws do not depend on draws of other threads.
#pragma once

#include <optional>

#include "ops/random_state.h"

namespace pullback {

// From now on, draws of this thread without a generator come from `next`; nullopt: from the
// module's sequence. Returns the previous sequence with its state.
std::optional<RandomState> exchange_thread_draws(std::optional<RandomState> next);
// The state of the sequence that this thread uses.
RandomState random_state();
// The seed of a new sequence; counts as one draw of the present one.
uint64_t fork_random_state();

}  // namespace pullback
