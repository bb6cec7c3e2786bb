// A buffer takes its memory from its device and returns it with the last reference.
#include "runtime/buffer.h"

#include <memory>

#include "base/error.h"
#include "runtime/device_memory.h"
#include "runtime/integer_ranges.h"
#include "runtime/memory.h"
#include "runtime/uploads.h"

namespace pullback {

namespace {

// Copies of constants are freed if the device has no more memory.
void* allocate_on(Device device, int64_t bytes) {
  try {
    return memory_of(device).allocate(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Memory || !drop_uploads(device)) throw;
  }
  return memory_of(device).allocate(bytes);
}

}  // namespace

void free_buffer(Buffer* buffer) {
  if (buffer->device.is_host()) drop_uploads_of(buffer);
  if (buffer->owner_) {
    delete buffer->owner_;
  } else if (buffer->device.is_host()) {
    free_bytes(buffer->address(), buffer->bytes);
  } else {
    drop_integers(*buffer);
    memory_of(buffer->device).release(buffer->address(), buffer->bytes);
  }
  delete buffer;
}

Ref<Buffer> make_buffer(int64_t bytes, Device device) {
  auto buffer = std::make_unique<Buffer>();
  buffer->address_ = device.is_host() ? allocate_bytes(bytes) : allocate_on(device, bytes);
  buffer->bytes = bytes;
  buffer->device = device;
  return Ref<Buffer>(buffer.release());
}

Ref<Buffer> share_memory(void* address, int64_t bytes, std::unique_ptr<MemoryOwner> owner) {
  auto buffer = std::make_unique<Buffer>();
  buffer->address_ = address;
  buffer->bytes = bytes;
  buffer->exported = true;
  buffer->owner_ = owner.release();
  return Ref<Buffer>(buffer.release());
}

void Buffer::refuse_host_access() const {
  fail(ErrorKind::Runtime, "this buffer is on ", name_of(device),
       ", and the host cannot read or write it; copy it to the host");
}

Ref<Buffer> copy_between(Device device, const Ref<Buffer>& buffer) {
  if (!device.is_host() && !buffer->device.is_host()) {
    return copy_to(device, copy_to(kHost, buffer));
  }
  Ref<Buffer> out = make_buffer(buffer->bytes, device);
  if (device.is_host()) {
    memory_of(buffer->device).download(out->host(), buffer->address(), buffer->bytes);
  } else {
    memory_of(device).upload(out->address(), buffer->host(), buffer->bytes);
  }
  return out;
}

}  // namespace pullback
