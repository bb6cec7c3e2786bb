// The plan cache: plans by structure. An entry holds no node and no buffer.
#pragma once

#include <memory>

#include "plan/backend.h"
#include "plan/passes/snapshot.h"

namespace pullback {

// All plans together, those that traced functions hold too, take no more than this as far as the
// cache has some to drop. Keeps a chain of 100 000 operations with its gradient.
constexpr int64_t kMaxPlanBytes = int64_t{512} << 20;

// The plan of a snapshot, made on a miss.
std::shared_ptr<const CachedPlan> find_plan(const Snapshot& snapshot);

struct CacheStatus {
  int64_t hits, misses, size;
  int64_t bytes;  // of all plans there are
};
CacheStatus cache_status();
void clear_cache();

}  // namespace pullback
