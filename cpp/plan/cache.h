// The plan cache: plans by structure. An entry holds no node and no buffer.
#pragma once

#include <memory>

#include "plan/backend.h"
#include "plan/snapshot.h"

namespace pullback {

struct CachedPlan {
  Plan plan;
  std::unique_ptr<Executable> executable;  // refers to `plan`
};

// The plan of a snapshot, made on a miss.
std::shared_ptr<const CachedPlan> find_plan(const Snapshot& snapshot);

struct CacheStatus {
  int64_t hits, misses, size;
};
CacheStatus cache_status();
void clear_cache();

// The backend that new plans are compiled for; changing it empties the cache.
void set_backend(const Backend& backend);

}  // namespace pullback
