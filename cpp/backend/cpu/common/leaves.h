// whole_leaves: cuts work at the leaves of float sums (kLeaf).
#pragma once

#include <algorithm>
#include <numeric>

#include "backend/cpu/kernels/table.h"

namespace pullback {

// Rounds a block of `count` rows of `length` values to whole leaves, and to a multiple of `step`:
// the values of a leaf that lies in two blocks are copied, which takes a third of the time of a
// group with many sums. A block of less than half a leaf stays; its elements cost much more than a
// copy.
inline int64_t whole_leaves(int64_t count, int64_t length, int64_t step = 1) {
  const int64_t unit = std::max<int64_t>(1, std::lcm(kLeaf / std::gcd(length, kLeaf), step));
  if (2 * count < unit) return count;
  return std::max<int64_t>(1, (count + unit / 2) / unit) * unit;
}

}  // namespace pullback
