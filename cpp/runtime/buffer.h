// Buffer: a block of memory with a reference count, used for the value of a node, an output of a
// run or the arena of a plan. The count is plain: under the interpreter lock.
#pragma once

#include <cstdint>

#include "base/ref.h"

namespace pullback {

struct Buffer {
  int64_t refs = 0;
  int64_t bytes = 0;      // as requested
  void* data = nullptr;   // 64-byte aligned
  bool exported = false;  // a NumPy array shares it: no run writes to it while this is set
};

void add_ref(Buffer* buffer);
void release(Buffer* buffer);

// Uninitialised memory of at least one byte, so `data` is never null; raises MemoryError.
Ref<Buffer> make_buffer(int64_t bytes);

}  // namespace pullback
