// Memory that each thread keeps from one step to the next.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "backend/cpu/common/slots.h"

namespace pullback {

// Takes the memory of its thread while it lives, so that a run inside of it, of a signal's handler,
// has memory of its own. `Owner` tells apart what keeps different memory.
template <class Owner>
class ThreadMemory {
 public:
  explicit ThreadMemory(int64_t bytes) : block_(std::exchange(kept, {})) {
    if (bytes <= block_.bytes) return;
    const int64_t size = round_up(bytes, 4096);
    block_ = {};
    block_.data.reset(static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>(size))));
    block_.bytes = block_.data ? size : 0;
  }
  ~ThreadMemory() { kept = std::move(block_); }
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;

  // Null where there is none.
  char* data() const { return block_.data.get(); }
  // What the last user has left here; 0 in new memory.
  int64_t& stamp() { return block_.stamp; }

 private:
  struct Block {
    std::unique_ptr<char, decltype(&std::free)> data{nullptr, &std::free};
    int64_t bytes = 0;
    int64_t stamp = 0;
  };
  static inline thread_local Block kept;

  Block block_;
};

}  // namespace pullback
