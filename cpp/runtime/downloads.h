// Copies of buffers for callers that no pass over the graph is waiting for: while they wait for a
// device, other threads of the interpreter run, and may change the graph.
#pragma once

#include "runtime/buffer.h"
#include "runtime/device_memory.h"

namespace pullback {

// As copy_to(). The buffer is held meanwhile, so that no run overwrites it.
inline Ref<Buffer> wait_and_copy_to(Device device, const Ref<Buffer>& buffer) {
  const Ref<Buffer> held = buffer;  // NOLINT(performance-unnecessary-copy-initialization)
  if (held->device == device || held->device.is_host()) return copy_to(device, held);
  const Ref<Buffer> copy = make_buffer(held->bytes);
  memory_of(held->device).wait_and_download(copy->host(), held->address(), held->bytes);
  return copy_to(device, copy);
}

}  // namespace pullback
