// Windowing: how the windows of convolutions and pools lie along three axes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace pullback {

using PerWindow = std::array<int64_t, 3>;

// Along an axis, tap k of result entry o reads input entry (o * stride + k * dilation - low) /
// spacing, if that is an integer and inside the input.
struct Windowing {
  PerWindow stride{1, 1, 1}, dilation{1, 1, 1}, low{};
  PerWindow spacing{1, 1, 1};  // of convolutions
  PerWindow size{1, 1, 1};     // of pools: taps per axis
};

// The taps that read an entry inside an axis of `length`; tap 0 reads entry `at`.
struct TapRange {
  int64_t begin, end;
  bool operator==(const TapRange&) const = default;
};
inline TapRange taps_inside(int64_t at, int64_t length, int64_t dilation, int64_t taps) {
  if (at >= 0 && at + (taps - 1) * dilation < length)
    return {0, taps};  // the most frequent case,
                       // without a division
  const auto first_from = [&](int64_t entry) {
    return at >= entry ? 0 : std::min((entry - at + dilation - 1) / dilation, taps);
  };
  return {first_from(0), std::max(first_from(0), first_from(length))};
}

}  // namespace pullback
