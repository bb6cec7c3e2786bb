// Lowers complex nodes: makes a snapshot in which each is a pair of real nodes.
#pragma once

#include <vector>

#include "plan/passes/snapshot.h"

namespace pullback {

bool has_complex(const Snapshot& snapshot);

// The same arguments, scalars and outputs, in their order: a complex one is an array of as many
// bytes with the parts of each element side by side. `kept` holds the nodes.
Snapshot without_complex(const Snapshot& snapshot, std::vector<NodeRef>* kept);

}  // namespace pullback
