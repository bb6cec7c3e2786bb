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

// Classes are powers of two from 64 bytes to 64 MiB; larger blocks are not cached.
constexpr int kFirstClass = 6;
constexpr int kLastClass = 26;
// A bound on what the cache may hold keeps an idle process small.
constexpr int64_t kCacheLimit = int64_t{256} << 20;

struct Pool {
  std::mutex mutex;
  std::vector<void*> free[kLastClass + 1];
  MemoryStatus status{};
  int64_t fail_after = 0;
};

Pool& pool() {
  static auto* instance = new Pool;  // leaked on purpose: buffers may outlive static destruction
  return *instance;
}

int class_of(int64_t bytes) {
  return std::max<int>(kFirstClass,
                       std::bit_width(static_cast<uint64_t>(std::max<int64_t>(bytes, 1)) - 1));
}

int64_t class_bytes(int64_t bytes) {
  const int c = class_of(bytes);
  if (c <= kLastClass) return int64_t{1} << c;
  return (bytes + 63) / 64 * 64;
}

[[noreturn]] void out_of_memory(int64_t bytes) {
  fail(ErrorKind::Memory, "cannot allocate ", bytes,
       " bytes: free some tensors, or evaluate smaller pieces");
}

}  // namespace

void* allocate_bytes(int64_t bytes) {
  Pool& p = pool();
  const int64_t size = class_bytes(bytes);
  const int c = class_of(bytes);
  void* data = nullptr;
  {
    std::lock_guard lock(p.mutex);
    if (p.fail_after > 0 && --p.fail_after == 0) out_of_memory(bytes);
    if (c <= kLastClass && !p.free[c].empty()) {
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
  const int64_t size = class_bytes(bytes);
  const int c = class_of(bytes);
  std::lock_guard lock(p.mutex);
  p.status.live_bytes -= size;
  --p.status.live_blocks;
  if (c <= kLastClass && p.status.cached_bytes + size <= kCacheLimit) {
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

void reset_peak() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  p.status.peak_bytes = p.status.live_bytes;
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
