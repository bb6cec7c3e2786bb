// The plan cache: plans by the key of their snapshot. A miss runs all passes (cache.cpp lists them
// in order: start there). An entry holds no node and no buffer. Under the interpreter lock.
#pragma once

#include <memory>
#include <utility>

#include "plan/backend.h"
#include "plan/passes/snapshot.h"

namespace pullback {

// Limit of the memory of all plans, including plans of traced functions; the cache drops its own
// plans to stay below. Enough for a chain of 100 000 operations with its gradient.
constexpr int64_t kMaxPlanBytes = int64_t{512} << 20;

// The plan of a snapshot, made on a miss.
std::shared_ptr<const CachedPlan> find_plan(const Snapshot& snapshot);

// While one exists, plans are made anew with the labels of their steps, and the cache has no part
// in it: equal plans may come from different lines of programs.
inline bool locating_plans = false;
struct LocatedPlans {
  const bool before = std::exchange(locating_plans, true);
  LocatedPlans() = default;
  ~LocatedPlans() { locating_plans = before; }
  LocatedPlans(const LocatedPlans&) = delete;
  LocatedPlans& operator=(const LocatedPlans&) = delete;
};

struct CacheStatus {
  int64_t hits, misses, size;
  int64_t bytes;  // of all existing plans
};
CacheStatus cache_status();
void clear_cache();

}  // namespace pullback
