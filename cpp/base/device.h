// Device: where a value lies and where the plan runs that computes it.
#pragma once

#include <cstdint>
#include <string>

namespace pullback {

struct Device {
  uint8_t id = 0;  // 0: the CPU, with the memory of the host; 1 + i: GPU i

  constexpr bool is_host() const { return id == 0; }
  constexpr bool operator==(const Device&) const = default;
};

constexpr Device kHost{};
// The device of scalars, of constants with data of the host, and of nodes made from these alone:
// they are on the device of their reader, and their values are copied there if necessary.
constexpr Device kAnyDevice{127};  // the seven bits that an id has in a node
constexpr int kMaxDevices = kAnyDevice.id;

inline std::string name_of(Device device) {
  if (device == kAnyDevice) return "any device";
  return device.is_host() ? "cpu" : "cuda:" + std::to_string(device.id - 1);
}

}  // namespace pullback
