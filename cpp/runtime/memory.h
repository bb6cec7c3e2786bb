// Aligned memory with a free list per size class, its counters, and a fault that tests can plant.
#pragma once

#include <cstdint>

namespace pullback {

// 64-byte aligned; raises MemoryError. What was freed is kept and comes back without page faults:
// blocks up to 1 GiB, kCachedBytes in all, of which the least recently freed go first. When the
// system has no more memory, everything that is kept goes.
void* allocate_bytes(int64_t bytes);
// More than this is refused at once: the system may promise it, and end the process where it is
// touched.
constexpr int64_t kLargestBlock = int64_t{1} << 46;
[[noreturn]] void out_of_memory(int64_t bytes);
// Raises MemoryError for more than the machine has, whatever the system promises.
void check_memory_for(int64_t bytes);
void free_bytes(void* data, int64_t bytes) noexcept;

// Keeps an idle process small, yet holds the temporaries of a step over arrays of some ten million
// elements.
constexpr int64_t kCachedBytes = int64_t{1} << 30;

struct MemoryStatus {
  int64_t live_bytes;    // handed out and not yet given back; sizes are rounded up by a quarter
                         // at most
  int64_t live_blocks;   // as many blocks
  int64_t peak_bytes;    // highest live_bytes since the start or the last reset
  int64_t cached_bytes;  // kept for reuse
};
MemoryStatus memory_status();
// The peak starts anew from what is live now.
void reset_peak_bytes();
// Gives every cached block back to the system.
void trim_memory();

// The next `after`-th allocation (1 = the very next) raises MemoryError; 0 takes the fault back.
void fail_allocation(int64_t after);

}  // namespace pullback
