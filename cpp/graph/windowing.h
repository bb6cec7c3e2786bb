// How windows lie over three axes: of convolutions and pools.
#pragma once

#include <array>
#include <cstdint>

namespace pullback {

using PerWindow = std::array<int64_t, 3>;

// Along an axis entry o of the result sees, for tap k, entry (o * stride + k * dilation - low) /
// spacing of the input, if that is whole and inside.
struct Windowing {
  PerWindow stride{1, 1, 1}, dilation{1, 1, 1}, low{};
  PerWindow spacing{1, 1, 1};  // of convolutions
  PerWindow size{1, 1, 1};     // of pools: the taps
};

}  // namespace pullback
