// Lowers complex nodes: makes a snapshot in which each is a pair of real nodes.
#pragma once

#include <vector>

#include "plan/passes/snapshot.h"

namespace pullback {

bool has_complex(const Snapshot& snapshot);

// Keeps arguments, scalars and outputs and their order. A complex one becomes an array of as many
// bytes, in which the parts of each element are adjacent. `kept` keeps the nodes alive.
Snapshot without_complex(const Snapshot& snapshot, std::vector<NodeRef>* kept);

}  // namespace pullback
