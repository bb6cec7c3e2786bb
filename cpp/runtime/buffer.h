// Buffer: a block of memory of a device with a reference count, used for the value of a node, an
// output of a run or the arena of a plan. The count is plain: under the interpreter lock.
#pragma once

#include <cstdint>
#include <memory>

#include "base/device.h"
#include "base/ref.h"

namespace pullback {

// Memory of another library. It is destroyed with the last reference to its buffer.
class MemoryOwner {
 public:
  virtual ~MemoryOwner() = default;
};

struct Buffer {
  int64_t refs = 0;
  int64_t bytes = 0;  // as requested
  Device device;
  bool exported = false;  // a NumPy array shares it: no run writes to it while this is set

  // 64-byte aligned, unless another library owns the memory: then as the dtype requires. For runs;
  // only those on the host read or write there.
  void* address() const { return address_; }
  // Another library owns the memory and may read it: `exported` must stay set.
  bool is_foreign() const { return owner_ != nullptr; }
  // The same, for code that reads or writes; raises if the buffer is not on the host.
  void* host() const {
    if (!device.is_host()) refuse_host_access();
    return address_;
  }

 private:
  friend Ref<Buffer> make_buffer(int64_t bytes, Device device);
  friend Ref<Buffer> share_memory(void* address, int64_t bytes, std::unique_ptr<MemoryOwner> owner);
  friend void free_buffer(Buffer* buffer);
  [[noreturn]] void refuse_host_access() const;

  void* address_ = nullptr;
  MemoryOwner* owner_ = nullptr;  // null for memory of the device
};
static_assert(sizeof(Buffer) == 40);

void free_buffer(Buffer* buffer);
inline void add_ref(Buffer* buffer) { ++buffer->refs; }
inline void release(Buffer* buffer) {
  if (--buffer->refs == 0) free_buffer(buffer);
}

// Uninitialised memory of at least one byte, so the address is never null; raises MemoryError.
Ref<Buffer> make_buffer(int64_t bytes, Device device = kHost);
// A buffer of the host over memory of another library, to which no run writes.
Ref<Buffer> share_memory(void* address, int64_t bytes, std::unique_ptr<MemoryOwner> owner);

// The same bytes on a device: the buffer itself if it is there, otherwise a copy.
Ref<Buffer> copy_between(Device device, const Ref<Buffer>& buffer);
inline Ref<Buffer> copy_to(Device device, const Ref<Buffer>& buffer) {
  return buffer->device == device ? buffer : copy_between(device, buffer);
}

}  // namespace pullback
