// The pool. Blocks come in size classes, four per doubling. Each class has a ring of free blocks
// that is threaded through the blocks themselves. A second ring has all cached blocks by age, for
// the limit of kCachedBytes. Large blocks request huge pages. One mutex protects everything.
#include "runtime/memory.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "base/error.h"
#include "base/threads.h"
#include "runtime/size_class.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/sysinfo.h>
#elif defined(_WIN32)
#include <malloc.h>
#endif

namespace pullback {
namespace {

constexpr int kClasses = 100;  // up to 1 GiB; larger blocks are not cached
static_assert(size_class(int64_t{1} << 30).index == kClasses - 1);
// Blocks from this size request huge pages: writing a fresh 40 MB then takes 3.4 ms instead of 16.4
// (Zen 5, virtual machine).
constexpr size_t kHugePage = size_t{2} << 20;
constexpr int64_t kSmallestHuge = 2 * kHugePage;

// A ring of cached blocks, threaded through the blocks themselves.
struct Link {
  Link* before = this;
  Link* after = this;

  bool empty() const { return after == this; }
  void insert(Link* link) {
    link->before = this;
    link->after = after;
    after->before = link;
    after = link;
  }
  void remove() {
    before->after = after;
    after->before = before;
  }
};

// Stored at the beginning of a cached block.
struct CachedBlock {
  Link of_class, of_all;
  int64_t size = 0;

  static CachedBlock* of(Link* all) {
    return reinterpret_cast<CachedBlock*>(reinterpret_cast<char*>(all) - sizeof(Link));
  }
};
static_assert(sizeof(CachedBlock) <= 64, "the smallest block holds one");

struct Pool {
  std::mutex mutex;
  Link classes[kClasses];  // most recently freed first
  Link all;
  MemoryStatus status{};
  int64_t fail_after = 0;
};

Pool* new_pool();

Pool& pool() {
  static auto* instance = new_pool();  // leaked on purpose: buffers may outlive static destruction
  return *instance;
}

Pool* new_pool() {
  // A child must not inherit the mutex from a thread that it does not have.
  at_fork([] { pool().mutex.lock(); }, [] { pool().mutex.unlock(); },
          [] { pool().mutex.unlock(); });
  return new Pool;
}

void* from_system(int64_t size) {
  const auto bytes = static_cast<size_t>(size);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (size >= kSmallestHuge) {
    void* data = nullptr;  // aligned_alloc would require whole pages
    if (posix_memalign(&data, kHugePage, bytes) != 0) return nullptr;
    madvise(data, bytes, MADV_HUGEPAGE);  // only speed depends on it
    return data;
  }
#endif
#if defined(_WIN32)
  return _aligned_malloc(bytes, 64);
#else
  return std::aligned_alloc(64, bytes);
#endif
}

void to_system(void* data) {
#if defined(_WIN32)
  _aligned_free(data);
#else
  std::free(data);
#endif
}

void take_from_cache(Pool& p, CachedBlock* block) {
  block->of_class.remove();
  block->of_all.remove();
  p.status.cached_bytes -= block->size;
}

// Frees the least recently used blocks until at most `limit` bytes are cached.
void shrink_cache(Pool& p, int64_t limit) {
  while (p.status.cached_bytes > limit) {
    CachedBlock* oldest = CachedBlock::of(p.all.before);
    take_from_cache(p, oldest);
    to_system(oldest);
  }
}

// Memory of the machine. The system promises more, but ends a process that touches more.
int64_t memory_of_machine() {
#if defined(__linux__)
  struct sysinfo info;
  if (sysinfo(&info) == 0) {
    return static_cast<int64_t>((uint64_t{info.totalram} + info.totalswap) * info.mem_unit);
  }
#endif
  return kLargestBlock;
}

}  // namespace

void out_of_memory(int64_t bytes) {
  fail(ErrorKind::Memory, "cannot allocate ", bytes,
       " bytes; free some tensors, or evaluate smaller ones");
}

void check_memory_for(int64_t bytes) {
  if (bytes > memory_of_machine()) out_of_memory(bytes);
}

void* allocate_bytes(int64_t bytes) {
  if (bytes < 0 || bytes > kLargestBlock) out_of_memory(bytes);
  Pool& p = pool();
  const auto [c, size] = size_class(bytes);
  std::lock_guard lock(p.mutex);
  if (p.fail_after > 0 && --p.fail_after == 0) out_of_memory(bytes);
  void* data = nullptr;
  if (c < kClasses && !p.classes[c].empty()) {
    data = p.classes[c].after;
    take_from_cache(p, static_cast<CachedBlock*>(data));
  } else {
    if (c >= kClasses && size > memory_of_machine() - p.status.live_bytes) out_of_memory(bytes);
    data = from_system(size);
    if (!data) {
      shrink_cache(p, 0);
      data = from_system(size);
    }
    if (!data) out_of_memory(bytes);
  }
  p.status.live_bytes += size;
  ++p.status.live_blocks;
  p.status.peak_bytes = std::max(p.status.peak_bytes, p.status.live_bytes);
  return data;
}

void free_bytes(void* data, int64_t bytes) noexcept {
  Pool& p = pool();
  const auto [c, size] = size_class(bytes);
  std::lock_guard lock(p.mutex);
  p.status.live_bytes -= size;
  --p.status.live_blocks;
  if (c >= kClasses) return to_system(data);
  auto* block = new (data) CachedBlock;
  block->size = size;
  p.classes[c].insert(&block->of_class);
  p.all.insert(&block->of_all);
  p.status.cached_bytes += size;
  shrink_cache(p, kCachedBytes);
}

MemoryStatus memory_status() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  return p.status;
}

void reset_peak_bytes() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  p.status.peak_bytes = p.status.live_bytes;
}

void trim_memory() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  shrink_cache(p, 0);
}

void fail_allocation(int64_t after) {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  p.fail_after = after;
}

}  // namespace pullback
