#include "runtime/buffer.h"

#include "runtime/memory.h"

namespace pullback {

void add_ref(Buffer* buffer) { ++buffer->refs; }

void release(Buffer* buffer) {
  if (--buffer->refs) return;
  free_bytes(buffer->data, buffer->bytes);
  delete buffer;
}

Ref<Buffer> make_buffer(int64_t bytes) {
  void* data = allocate_bytes(bytes);
  auto* buffer = new Buffer;
  buffer->bytes = bytes;
  buffer->data = data;
  return Ref<Buffer>(buffer);
}

}  // namespace pullback
