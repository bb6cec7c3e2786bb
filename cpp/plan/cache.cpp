#include "plan/cache.h"

#include <deque>
#include <unordered_map>

#include "plan/fuse.h"
#include "plan/lower.h"
#include "plan/memory.h"
#include "plan/verify.h"

namespace pullback {
namespace {

// Plans are a few kilobytes; the oldest go first. A program has far fewer structures than this.
constexpr size_t kMaxPlans = 4096;

struct Entry {
  std::vector<unsigned char> key;
  std::shared_ptr<const CachedPlan> plan;
};

struct Cache {
  std::unordered_multimap<uint64_t, Entry> entries;
  std::deque<uint64_t> age;
  CacheStatus status{};
  const Backend* backend = &cpu_backend();
};

Cache& cache() {
  static auto* instance = new Cache;
  return *instance;
}

std::shared_ptr<const CachedPlan> make_plan(const Snapshot& snapshot, const Backend& backend) {
  auto out = std::make_shared<CachedPlan>();
  Analysis analysis = analyse(snapshot);
  fuse(&analysis);
  out->plan = lower(analysis);
  plan_memory(&out->plan);
  verify(out->plan);
  out->executable = backend.compile(out->plan);
  return out;
}

}  // namespace

std::shared_ptr<const CachedPlan> find_plan(const Snapshot& snapshot) {
  Cache& c = cache();
  const auto [begin, end] = c.entries.equal_range(snapshot.hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second.key == snapshot.key) {
      ++c.status.hits;
      return it->second.plan;
    }
  }
  ++c.status.misses;
  auto plan = make_plan(snapshot, *c.backend);
  if (c.age.size() >= kMaxPlans) {
    c.entries.erase(c.age.front());
    c.age.pop_front();
  }
  c.entries.emplace(snapshot.hash, Entry{snapshot.key, plan});
  c.age.push_back(snapshot.hash);
  return plan;
}

CacheStatus cache_status() {
  CacheStatus status = cache().status;
  status.size = static_cast<int64_t>(cache().entries.size());
  return status;
}

void clear_cache() {
  cache().entries.clear();
  cache().age.clear();
}

void set_backend(const Backend& backend) {
  clear_cache();
  cache().backend = &backend;
}

const Backend& current_backend() { return *cache().backend; }

}  // namespace pullback
