// Plans by the bytes of their key, most recently used first. A miss runs all passes, in
// make_plan().
#include "plan/passes/cache.h"

#include <array>
#include <iterator>
#include <list>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "plan/checked_indices.h"
#include "plan/passes/coalesce_writes.h"
#include "plan/passes/fuse.h"
#include "plan/passes/lower.h"
#include "plan/passes/lower_complex.h"
#include "plan/passes/plan_memory.h"
#include "plan/passes/widen.h"
#include "plan/verify/verify.h"

namespace pullback {
namespace {

// Far more than the structures of a program; the least recently used are dropped.
constexpr size_t kMaxPlans = 4096;

int64_t plan_bytes = 0;  // of all existing plans

struct Entry {
  uint64_t hash;
  std::vector<unsigned char> key;
  std::shared_ptr<const CachedPlan> plan;
};

struct Cache {
  std::list<Entry> entries;  // most recently used first
  std::unordered_multimap<uint64_t, std::list<Entry>::iterator> places;
  int64_t bytes = 0;  // of the cached plans
  CacheStatus status{};
  // By the id of the device; null without one.
  std::array<const Backend*, kMaxDevices> backends{&cpu_backend()};
};

Cache& cache() {
  static auto* instance = new Cache;
  return *instance;
}

std::shared_ptr<const CachedPlan> make_plan(const Snapshot& snapshot, const Backend& backend) {
  auto out = std::make_shared<CachedPlan>();
  out->device = backend.device();
  std::vector<NodeRef> kept;
  std::optional<Snapshot> real;
  if (has_complex(snapshot)) real = without_complex(snapshot, &kept);
  const Analysis analysis = simplify(real ? *real : snapshot);
  out->plan = lower(analysis, fuse(analysis, backend.limits()));
  widen(&out->plan);
  coalesce_writes(&out->plan);
  mark_checked(&out->plan);
  plan_memory(&out->plan);
  verify(out->plan);
  out->executable = backend.compile(out->plan);
  out->bytes = static_cast<int64_t>(sizeof(CachedPlan) + snapshot.key.size()) +
               bytes_of(out->plan) + out->executable->bytes();
  plan_bytes += out->bytes;
  return out;
}

void drop_oldest(Cache* c) {
  const auto oldest = std::prev(c->entries.end());
  const auto [begin, end] = c->places.equal_range(oldest->hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second == oldest) {
      c->places.erase(it);
      break;
    }
  }
  c->bytes -= oldest->plan->bytes;
  c->entries.erase(oldest);
}

}  // namespace

CachedPlan::~CachedPlan() { plan_bytes -= bytes; }

std::shared_ptr<const CachedPlan> find_plan(const Snapshot& snapshot) {
  if (locating_plans) return make_plan(snapshot, backend_of(snapshot.device));
  Cache& c = cache();
  const auto [begin, end] = c.places.equal_range(snapshot.hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second->key == snapshot.key) {
      ++c.status.hits;
      c.entries.splice(c.entries.begin(), c.entries, it->second);
      return it->second->plan;
    }
  }
  ++c.status.misses;
  auto plan = make_plan(snapshot, backend_of(snapshot.device));
  c.entries.push_front({snapshot.hash, snapshot.key, plan});
  c.places.emplace(snapshot.hash, c.entries.begin());
  c.bytes += plan->bytes;
  // Plans kept by traced functions cannot reduce the cache below a part of the limit.
  const auto full = [&] {
    return c.entries.size() > kMaxPlans ||
           (plan_bytes > kMaxPlanBytes && c.bytes > kMaxPlanBytes / 4);
  };
  while (full() && !c.entries.empty()) drop_oldest(&c);
  return plan;
}

CacheStatus cache_status() {
  CacheStatus status = cache().status;
  status.size = static_cast<int64_t>(cache().entries.size());
  status.bytes = plan_bytes;
  return status;
}

void clear_cache() {
  Cache& c = cache();
  while (!c.entries.empty()) drop_oldest(&c);
}

const Backend& backend_of(Device device) {
  const Backend* backend = cache().backends.at(device.id);
  if (!backend) fail(ErrorKind::Runtime, "there is no backend for ", name_of(device));
  return *backend;
}

void set_backend(const Backend& backend) {
  clear_cache();
  cache().backends.at(backend.device().id) = &backend;
  add_device(backend.device(), backend.memory());
}

}  // namespace pullback
