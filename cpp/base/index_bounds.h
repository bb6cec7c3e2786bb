// Range checks of index arrays, for builders and for steps.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pullback {

// True if an index lies outside low … high-1; requires low <= 0. The sign bit of i - low or of high
// - 1 - i is set exactly for such an i, and with low <= 0 only one of the two can wrap. Written
// this way because compilers do not vectorise 64-bit comparisons.
template <class I>
bool any_outside(const I* at, int64_t n, int64_t low, int64_t high) {
  const auto from = static_cast<uint64_t>(-low);
  const auto to = static_cast<uint64_t>(high - 1);
  int64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto index = static_cast<uint64_t>(static_cast<int64_t>(at[i]));
    outside |= static_cast<int64_t>((index + from) | (to - index));
  }
  return outside < 0;
}

// The first index outside; requires any_outside().
template <class I>
I first_outside(const I* at, int64_t n, int64_t low, int64_t high) {
  return *std::find_if(at, at + n, [&](I i) { return i < low || i >= high; });
}

}  // namespace pullback
