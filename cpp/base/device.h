// Device: where a value lies and where the plan runs that computes it.
#pragma once

#include <cstdint>
#include <string>

namespace pullback {

struct Device {
  uint8_t id = 0;  // 0: the CPU, with the memory of the host; 1, 2, …: accelerators

  constexpr bool is_host() const { return id == 0; }
  constexpr bool operator==(const Device&) const = default;
};

constexpr Device kHost{};
// The device of scalars and of nodes made from scalars alone: they are on the device of their
// reader, and their values, which are on the host or there, are copied if necessary.
constexpr Device kAnyDevice{127};  // the seven bits that an id has in a node
constexpr int kMaxDevices = kAnyDevice.id;

inline std::string name_of(Device device) {
  if (device == kAnyDevice) return "any device";
  return device.is_host() ? "cpu" : "device " + std::to_string(device.id);
}

}  // namespace pullback
