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
constexpr Device kAnyDevice{127};
constexpr int kMaxDevices = kAnyDevice.id;  // an id has seven bits in a node

inline std::string name_of(Device device) {
  if (device == kAnyDevice) return "any device";
  return device.is_host() ? "cpu" : "device " + std::to_string(device.id);
}

// The common device of two operands; `*mixed` is set if there is none.
constexpr Device common_device(Device a, Device b, bool* mixed) {
  if (a == b || b == kAnyDevice) return a;
  if (a != kAnyDevice) *mixed = true;
  return b;
}

}  // namespace pullback
