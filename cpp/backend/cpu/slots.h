// Where a plan's slots lie during one run, and memory for its kernels.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "plan/backend.h"

namespace pullback {

// The memory behind the slots of a plan during one run.
class Slots {
 public:
  Slots(const Plan& plan, const RunArguments& run) : plan_(plan), run_(run) {}

  char* at(int32_t index) const {
    const Slot& slot = plan_.slots[index];
    switch (slot.kind) {
      case SlotKind::Argument:  // only ever read
        return static_cast<char*>(const_cast<void*>(run_.arguments[slot.index]));
      case SlotKind::Output:
        return static_cast<char*>(run_.outputs[slot.index]);
      default:
        return static_cast<char*>(run_.arena) + slot.index;
    }
  }
  char* at(const View& view) const { return at(view.slot) + view.offset * size_of(view.dtype); }

  const Scalar& scalar(int32_t index) const { return run_.scalars[index]; }
  int64_t slot_bytes(int32_t index) const { return plan_.slots[index].bytes; }

 private:
  const Plan& plan_;
  const RunArguments& run_;
};

// At least `bytes` of memory that belongs to this thread until it asks again; null when there is
// none. It grows and stays until the thread ends, so that runs allocate nothing.
char* thread_scratch(int64_t bytes) noexcept;

// A large block for one step, from the library's allocator; null when there is none.
class StepMemory {
 public:
  explicit StepMemory(int64_t bytes) noexcept;
  ~StepMemory();
  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;
  char* data() const { return data_; }

 private:
  int64_t bytes_;
  char* data_;
};

// The first failure of a parallel loop: that of the lowest chunk, whichever thread met it first.
class FirstProblem {
 public:
  void report(int64_t chunk, Problem problem) {
    const int64_t mine = (chunk << 8) | static_cast<int64_t>(problem);
    int64_t seen = first_.load(std::memory_order_relaxed);
    while (mine < seen && !first_.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) {
    }
  }
  bool any() const { return first_.load(std::memory_order_relaxed) != kNone; }
  Status status() const {
    Status out;
    if (any()) out.problem = static_cast<Problem>(first_.load(std::memory_order_relaxed) & 0xff);
    return out;
  }

 private:
  static constexpr int64_t kNone = INT64_MAX;
  std::atomic<int64_t> first_{kNone};
};

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

inline Status failure(Problem problem) {
  Status out;
  out.problem = problem;
  return out;
}

// How many chunks a large loop is cut into: enough to balance any number of threads we expect, few
// enough that what each sets up does not show.
constexpr int64_t kChunks = 64;

constexpr int64_t kSmallestChunk = 16 * 1024;  // elements
// A run is stopped between chunks only, and Ctrl-C shall not take 0.1 s: a few milliseconds.
constexpr int64_t kLargestChunk = 256 * 1024;

// A loop over `units` pieces of work, each of `unit_size` elements: how many of them make a chunk.
// By size alone (see base/threads.h).
constexpr int64_t chunk_of(int64_t units, int64_t unit_size) {
  const int64_t size = unit_size < 1 ? 1 : unit_size;
  return std::clamp(ceil_div(units, kChunks), ceil_div(kSmallestChunk, size),
                    ceil_div(kLargestChunk, size));
}

}  // namespace pullback
