// DeviceMemory: the memory of one device. The pool of runtime/memory.h is the one of the host; a
// backend for another device brings its own (plan/backend.h). Start at memory_of().
#pragma once

#include <cstdint>
#include <string>

#include "base/device.h"

namespace pullback {

// Addresses are of the device: the host may not read or write them. Any thread may call these
// functions, also a run between its steps, for which copies are in order with the steps.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // At least one byte, 64-byte aligned; raises MemoryError.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* address, int64_t bytes) noexcept = 0;
  // Both addresses are of the device.
  virtual void copy(void* to, const void* from, int64_t bytes) = 0;
  // Returns when `host` may change.
  virtual void upload(void* to, const void* host, int64_t bytes) = 0;
  // Returns when `host` has the bytes, after all runs that write them.
  virtual void download(void* host, const void* from, int64_t bytes) = 0;
  // The same. Other threads of the interpreter may run meanwhile and change the graph.
  virtual void wait_and_download(void* host, const void* from, int64_t bytes) {
    download(host, from, bytes);
  }
  // Waits for all runs before the call. Other threads of the interpreter may run meanwhile and
  // change the graph.
  virtual void synchronize() {}
  // The failure after which the device can no longer be used; empty if there is none.
  virtual std::string failure() const { return {}; }
};

DeviceMemory& host_memory();
DeviceMemory& memory_of(Device device);

// Registers the memory of an accelerator; it is never unregistered.
void add_device(Device device, DeviceMemory& memory);
// False until add_device() is called; until then all nodes and buffers are on the host, and passes
// over graphs skip the questions of devices.
inline bool several_devices = false;

}  // namespace pullback
