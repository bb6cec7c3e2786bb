// What an operation carries besides its inputs: plain bytes, so that two attributes compare and
// hash as memory. Numbers that change from step to step (a learning rate, a random counter) are
// scalar nodes, never attributes: they would split the plan cache.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/shape.h"
#include "ops/op.h"

namespace pullback {

struct Attr {
  uint8_t axes = 0;  // sum … any: bit i = axis i is folded
  bool keepdims = false;
  int8_t axis = 0;              // concat, take, scatter_add, at_index, argmax, argmin
  Update update = Update::Set;  // at_window, at_index
  bool unique = false;          // at_index: no position is known to come twice
  uint8_t unused[3] = {};
  int8_t order[kMaxRank] = {};  // transpose: output axis i is input axis order[i]

  bool operator==(const Attr& other) const { return !std::memcmp(this, &other, sizeof other); }
};
static_assert(sizeof(Attr) == 16);

// Where a slice (or an embed, or an at_window) sits: element i of axis d comes from start[d] + i *
// step[d].
struct Window {
  int64_t start[kMaxRank] = {};
  int64_t step[kMaxRank] = {};
};

}  // namespace pullback
