// ThreadMemory: a block that each thread keeps between steps, so that steps need not allocate.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "backend/common/slots.h"

namespace pullback {

// Takes the block of its thread while it exists. A run inside of it (from a signal handler)
// therefore gets a block of its own. `Owner` distinguishes blocks with different purposes.
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

  // Null if there is no memory.
  char* data() const { return block_.data.get(); }
  // A number that the last user stored; 0 in a new block.
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
