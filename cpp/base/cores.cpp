// Reads the affinity mask of the process, then the CPU quotas of its cgroup and of the cgroups
// above: a container limited to two of 64 cores must not start 64 threads. File names differ
// between versions 1 and 2 of cgroups. A file that cannot be read sets no limit.
#include "base/cores.h"

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>

#include <fstream>
#include <string>
#endif

namespace pullback {
namespace {

#if defined(__linux__)

int affinity(int otherwise) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : otherwise;
}

// The quota of a folder in cores, rounded up; 0 if it sets none.
int quota_of(const std::string& folder) {
  long long quota = 0;
  long long period = 0;
  std::ifstream both(folder + "/cpu.max");  // version 2; "max" is not a number
  if (!(both >> quota >> period)) {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? static_cast<int>((quota + period - 1) / period) : 0;
}

// The smallest quota of our cgroup and the cgroups above it. Lines are `number:controllers:path`. A
// container sees its own cgroup at the root, whatever the path is.
int quota(int cores) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers.find("cpu") == std::string::npos) continue;
    const std::string root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    std::string path = line.substr(second + 1);
    for (;;) {
      if (path == "/") path.clear();
      if (const int own = quota_of(root + path)) cores = std::min(cores, own);
      if (path.empty()) break;
      path.resize(path.rfind('/'));
    }
  }
  return cores;
}

#endif

}  // namespace

int usable_cores() {
  static const int usable = [] {
    const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#if defined(__linux__)
    return std::max(1, quota(affinity(cores)));
#else
    return cores;
#endif
  }();
  return usable;
}

}  // namespace pullback
