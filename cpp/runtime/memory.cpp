#include "runtime/memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "base/error.h"

namespace pullback {
namespace {

// Four size classes per doubling, from 64 bytes to 1 GiB; larger blocks are not cached.
constexpr int kFirstDoubling = 6;
constexpr int kDoublings = 25;
constexpr int kClasses = kDoublings * 4;
// A bound on what the cache may hold keeps an idle process small, yet lets the temporaries of a
// step over arrays of some ten million elements come back without page faults.
constexpr int64_t kCacheLimit = int64_t{1} << 30;

struct Pool {
  std::mutex mutex;
  std::vector<void*> free[kClasses];
  MemoryStatus status{};
  int64_t fail_after = 0;
};

Pool& pool() {
  static auto* instance = new Pool;  // leaked on purpose: buffers may outlive static destruction
  return *instance;
}

struct SizeClass {
  int index;  // kClasses and above: not cached
  int64_t bytes;
};

SizeClass class_of(int64_t bytes) {
  const auto n = static_cast<uint64_t>(std::max<int64_t>(bytes, 64)) - 1;
  const int doubling = std::bit_width(n) - 1;  // 2^doubling <= n
  // Quarters keep blocks multiples of 64 bytes only from 256 on; below, take whole doublings.
  const int quarter = doubling < 8 ? 3 : static_cast<int>(n >> (doubling - 2) & 3);
  const int64_t size = (int64_t{4} + quarter + 1) << (doubling - 2);
  return {(doubling - kFirstDoubling + 1) * 4 + quarter, size};
}

[[noreturn]] void out_of_memory(int64_t bytes) {
  fail(ErrorKind::Memory, "cannot allocate ", bytes,
       " bytes: free some tensors, or evaluate smaller pieces");
}

}  // namespace

void* allocate_bytes(int64_t bytes) {
  Pool& p = pool();
  const auto [c, size] = class_of(bytes);
  void* data = nullptr;
  {
    std::lock_guard lock(p.mutex);
    if (p.fail_after > 0 && --p.fail_after == 0) out_of_memory(bytes);
    if (c < kClasses && !p.free[c].empty()) {
      data = p.free[c].back();
      p.free[c].pop_back();
      p.status.cached_bytes -= size;
    }
  }
  if (!data) {
    // Past 2^46 bytes aligned_alloc may succeed by overcommit and die on touch: refuse early.
    if (size > (int64_t{1} << 46)) out_of_memory(bytes);
    data = std::aligned_alloc(64, static_cast<size_t>(size));
    if (!data) {
      trim_memory();
      data = std::aligned_alloc(64, static_cast<size_t>(size));
    }
    if (!data) out_of_memory(bytes);
  }
  std::lock_guard lock(p.mutex);
  p.status.live_bytes += size;
  ++p.status.live_blocks;
  p.status.peak_bytes = std::max(p.status.peak_bytes, p.status.live_bytes);
  return data;
}

void free_bytes(void* data, int64_t bytes) noexcept {
  Pool& p = pool();
  const auto [c, size] = class_of(bytes);
  std::lock_guard lock(p.mutex);
  p.status.live_bytes -= size;
  --p.status.live_blocks;
  if (c < kClasses && p.status.cached_bytes + size <= kCacheLimit) {
    p.free[c].push_back(data);
    p.status.cached_bytes += size;
  } else {
    std::free(data);
  }
}

MemoryStatus memory_status() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  return p.status;
}

void trim_memory() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  for (auto& list : p.free) {
    for (void* data : list) std::free(data);
    list.clear();
  }
  p.status.cached_bytes = 0;
}

void fail_allocation(int64_t after) {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  p.fail_after = after;
}

}  // namespace pullback
