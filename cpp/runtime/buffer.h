// A block of memory with a reference count: the value of a node, an output or a plan's arena.
#pragma once

#include <cstdint>

#include "base/ref.h"

namespace pullback {

struct Buffer {
  int64_t refs = 0;
  int64_t bytes = 0;      // as asked for
  void* data = nullptr;   // 64-byte aligned
  bool exported = false;  // a NumPy array looked at it: not written as long as this is set
};

void add_ref(Buffer* buffer);
void release(Buffer* buffer);

// Uninitialised memory; raises MemoryError. At least one byte is always there, so data is never
// null.
Ref<Buffer> make_buffer(int64_t bytes);

}  // namespace pullback
