// usable_cores(): the number of cores that this process may use.
#pragma once

namespace pullback {

// The smallest of the affinity mask and the CPU quotas of the process's cgroup (version 1 or 2),
// and at least 1. Determined at the first call.
int usable_cores();

}  // namespace pullback
