// Aligned memory with a free list per size class, its counters, and a fault that tests can plant.
#pragma once

#include <cstdint>

namespace pullback {

// 64-byte aligned; raises MemoryError. Small and middle blocks come back from a cache.
void* allocate_bytes(int64_t bytes);
void free_bytes(void* data, int64_t bytes) noexcept;

struct MemoryStatus {
  int64_t live_bytes;    // handed out and not yet given back
  int64_t live_blocks;   // as many blocks
  int64_t peak_bytes;    // highest live_bytes of the process
  int64_t cached_bytes;  // kept for reuse
};
MemoryStatus memory_status();
// Gives every cached block back to the system.
void trim_memory();

// The next `after`-th allocation (1 = the very next) raises MemoryError; 0 takes the fault back.
void fail_allocation(int64_t after);

}  // namespace pullback
