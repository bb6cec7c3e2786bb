// The sequence that a thread draws from in place of that of the module: draws of one run of a graph
// do not depend on what other threads draw meanwhile.
#pragma once

#include <optional>

#include "ops/random_state.h"

namespace pullback {

// Draws of this thread without a generator come from `next`, or from the module's sequence again.
// Returns what they came from, as far as it has been used.
std::optional<RandomState> exchange_thread_draws(std::optional<RandomState> next);
// The state that this thread draws from.
RandomState random_state();
// The seed of another sequence; counts as one draw of the present one.
uint64_t fork_random_state();

}  // namespace pullback
