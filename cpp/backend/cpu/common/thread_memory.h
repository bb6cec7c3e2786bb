// ThreadMemory: a block that each thread keeps between steps, so that steps need not allocate.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
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
    void* data = ::operator new(static_cast<size_t>(size), kLine, std::nothrow);
    block_.data.reset(static_cast<char*>(data));
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
  static constexpr std::align_val_t kLine{64};
  struct Release {
    void operator()(char* data) const { ::operator delete(data, kLine); }
  };
  struct Block {
    std::unique_ptr<char, Release> data;
    int64_t bytes = 0;
    int64_t stamp = 0;
  };
  static inline thread_local Block kept;

  Block block_;
};

}  // namespace pullback
