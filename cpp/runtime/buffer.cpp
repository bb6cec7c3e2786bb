// A buffer takes its memory from runtime/memory.h and returns it with the last reference.
#include "runtime/buffer.h"

#include <memory>

#include "runtime/memory.h"

namespace pullback {

void add_ref(Buffer* buffer) { ++buffer->refs; }

void release(Buffer* buffer) {
  if (--buffer->refs) return;
  free_bytes(buffer->data, buffer->bytes);
  delete buffer;
}

Ref<Buffer> make_buffer(int64_t bytes) {
  auto buffer = std::make_unique<Buffer>();
  buffer->data = allocate_bytes(bytes);
  buffer->bytes = bytes;
  return Ref<Buffer>(buffer.release());
}

}  // namespace pullback
