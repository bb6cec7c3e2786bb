// Aligned memory from a pool with a free list per size class, its counters, and injected failures
// for tests. Any thread may call these functions. Start at allocate_bytes().
#pragma once

#include <cstdint>

namespace pullback {

// 64-byte aligned; raises MemoryError. Freed blocks are cached and reused without page faults:
// blocks up to 1 GiB, kCachedBytes in all, of which the least recently freed go first. When the
// system has no more memory, the whole cache is freed.
void* allocate_bytes(int64_t bytes);
// More than this is refused at once: the system may promise it and end the process when it is
// touched.
constexpr int64_t kLargestBlock = int64_t{1} << 46;
[[noreturn]] void out_of_memory(int64_t bytes);
// Raises MemoryError for more than the memory of the machine, even if the system would promise it.
void check_memory_for(int64_t bytes);
void free_bytes(void* data, int64_t bytes) noexcept;

// Small enough for an idle process, large enough for the temporaries of a step over some ten
// million elements.
constexpr int64_t kCachedBytes = int64_t{1} << 30;

struct MemoryStatus {
  int64_t live_bytes;    // allocated and not freed; sizes are rounded up by at most a quarter
  int64_t live_blocks;   // number of these blocks
  int64_t peak_bytes;    // highest live_bytes since the start or the last reset
  int64_t cached_bytes;  // free blocks kept for reuse
};
MemoryStatus memory_status();
// Sets the peak to the present live_bytes.
void reset_peak_bytes();
// Returns every cached block to the system.
void trim_memory();

// Makes the `after`-th allocation from now (1 = the next) raise MemoryError; 0 cancels.
void fail_allocation(int64_t after);

}  // namespace pullback
