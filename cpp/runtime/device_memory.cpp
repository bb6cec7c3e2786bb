// The memory of the host as a DeviceMemory, and the table of all memories.
#include "runtime/device_memory.h"

#include <array>
#include <cstring>

#include "base/error.h"
#include "runtime/memory.h"

namespace pullback {
namespace {

class HostMemory final : public DeviceMemory {
 public:
  void* allocate(int64_t bytes) override { return allocate_bytes(bytes); }
  void release(void* address, int64_t bytes) noexcept override { free_bytes(address, bytes); }
  void copy(void* to, const void* from, int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void upload(void* to, const void* host, int64_t bytes) override { copy(to, host, bytes); }
  void download(void* host, const void* from, int64_t bytes) override { copy(host, from, bytes); }
};

std::array<DeviceMemory*, kMaxDevices>& memories() {
  static std::array<DeviceMemory*, kMaxDevices> table{&host_memory()};
  return table;
}

}  // namespace

DeviceMemory& host_memory() {
  static auto* memory = new HostMemory;  // leaked on purpose, as the pool is
  return *memory;
}

DeviceMemory& memory_of(Device device) {
  DeviceMemory* memory = device == kAnyDevice ? nullptr : memories().at(device.id);
  if (!memory) fail(ErrorKind::Runtime, "memory_of: there is no device ", int{device.id});
  return *memory;
}

void add_device(Device device, DeviceMemory& memory) {
  memories().at(device.id) = &memory;
  several_devices |= !device.is_host();
}

}  // namespace pullback
