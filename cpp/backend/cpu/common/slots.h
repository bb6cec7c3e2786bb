// Slots: the addresses of a plan's slots during one run; and helpers that steps share: scratch
// memory, the first failure of a parallel loop, and the size of chunks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "plan/backend.h"

namespace pullback {

// The memory of a plan's slots during one run.
class Slots {
 public:
  Slots(const Plan& plan, const RunArguments& run) : plan_(plan), run_(run) {}

  char* at(int32_t index) const {
    const Slot& slot = plan_.slots[index];
    switch (slot.kind) {
      case SlotKind::Argument:  // never written
        return static_cast<char*>(const_cast<void*>(run_.arguments[slot.index]));
      case SlotKind::Output:
        return static_cast<char*>(run_.outputs[slot.index]);
      default:
        return static_cast<char*>(run_.arena) + slot.index;
    }
  }
  char* at(const View& view) const { return at(view.slot) + view.offset * size_of(view.dtype); }
  // Null without a view.
  char* at(const std::optional<View>& view) const { return view ? at(*view) : nullptr; }

  bool (*interrupted() const)() { return run_.interrupted; }
  const Scalar& scalar(RunScalar scalar) const { return run_.scalars[scalar.position]; }
  // The scratch memory of the running step; the executable requested it by scratch_bytes().
  char* scratch() const { return static_cast<char*>(run_.arena) + scratch_offset(plan_); }
  static int64_t scratch_offset(const Plan& plan) { return (plan.arena_bytes + 63) / 64 * 64; }
  int64_t slot_bytes(int32_t index) const { return plan_.slots[index].bytes; }

 private:
  const Plan& plan_;
  const RunArguments& run_;
};

// A large block for one step, from the library's allocator; null if there is no memory.
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

inline Status failure(Problem problem) {
  Status out;
  out.problem = problem;
  return out;
}

// The failure of the lowest chunk of a parallel loop, in whatever order the chunks ran.
class FirstProblem {
 public:
  void report(int64_t chunk, const Status& status) {
    const std::lock_guard lock(mutex_);
    if (chunk >= chunk_) return;
    chunk_ = chunk;
    status_ = status;
  }
  void report(int64_t chunk, Problem problem) { report(chunk, failure(problem)); }
  // True if an earlier chunk has failed, so that this chunk need not run.
  bool before(int64_t chunk) const { return chunk_.load(std::memory_order_relaxed) < chunk; }
  Status status() const { return status_; }  // after the loop

 private:
  std::mutex mutex_;
  std::atomic<int64_t> chunk_{INT64_MAX};
  Status status_;
};

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// The number of chunks of a large loop: enough for any expected number of threads, few enough for
// the setup of a chunk to be negligible.
constexpr int64_t kChunks = 64;

constexpr int64_t kSmallestChunk = 16 * 1024;  // elements
// Runs are interrupted between chunks only, so a chunk must take a few milliseconds at most.
constexpr int64_t kLargestChunk = 256 * 1024;

// The number of work items in one chunk, for a loop over `units` items of `unit_size` elements
// each. Depends on sizes alone (see base/threads.h).
constexpr int64_t chunk_size(int64_t units, int64_t unit_size) {
  const int64_t size = unit_size < 1 ? 1 : unit_size;
  return std::clamp(ceil_div(units, kChunks), ceil_div(kSmallestChunk, size),
                    ceil_div(kLargestChunk, size));
}

}  // namespace pullback
