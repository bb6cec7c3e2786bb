// Whether positions lie in a range: what calls and runs check of indices.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pullback {

// i - low or high - 1 - i is negative exactly where i is outside low … high-1, for low <= 0 (only
// then may one of them wrap). Comparisons of 64 bits would be one index at a time.
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

// The first of them, where any_outside().
template <class I>
I first_outside(const I* at, int64_t n, int64_t low, int64_t high) {
  return *std::find_if(at, at + n, [&](I i) { return i < low || i >= high; });
}

}  // namespace pullback
