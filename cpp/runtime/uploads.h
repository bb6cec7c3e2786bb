// Copies of buffers of the host on devices. A constant that plans of a device read is copied once:
// the copy lives as long as its buffer, unless drop_uploads() frees it before. Under the
// interpreter lock.
#pragma once

#include "base/device.h"
#include "runtime/buffer.h"

namespace pullback {

// The same bytes on a device: the buffer itself if it is there. The copy of a buffer of the host is
// stored; no run may write to it.
Ref<Buffer> uploaded(Device device, const Ref<Buffer>& buffer);
// Frees the copies of a buffer that ends, or whose bytes change.
void drop_uploads_of(const Buffer* buffer) noexcept;
// Removes all copies on a device; those that no run uses are freed. Returns true if there were any.
bool drop_uploads(Device device) noexcept;

}  // namespace pullback
