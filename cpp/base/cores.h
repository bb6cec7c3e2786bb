// How many cores this process may use.
#pragma once

namespace pullback {

// What affinity and the CPU quota of its cgroup (version 1 or 2) leave it; at least 1. Looked up
// once.
int usable_cores();

}  // namespace pullback
