// Attr: the attributes of an operation, plain bytes, so that two of them compare and hash as
// memory.
//
// Numbers that change from step to step (a learning rate, a random counter) are scalar nodes, never
// attributes: they would split the plan cache. Each op reads the fields that name it.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/shape.h"
#include "graph/op.h"

namespace pullback {

// Bit i: axis i.
using AxisMask = uint16_t;
static_assert(kMaxRank <= 16, "a bit of AxisMask and four of AxisOrder for each axis");

constexpr AxisMask axis_bit(int64_t axis) { return static_cast<AxisMask>(1u << axis); }
constexpr AxisMask all_axes(int64_t rank) { return static_cast<AxisMask>((1u << rank) - 1); }

// An axis for each axis, four bits each.
struct AxisOrder {
  uint64_t bits = 0;

  int64_t operator[](int64_t i) const { return static_cast<int64_t>(bits >> 4 * i & 15); }
  void set(int64_t i, int64_t axis) {
    bits = (bits & ~(uint64_t{15} << 4 * i)) | static_cast<uint64_t>(axis) << 4 * i;
  }
};

// The policy of checkpoint() for the nodes it makes.
enum class Keep : uint8_t {
  Default,  // its value is kept if it is expensive and may be needed again
  Never,    // it is recomputed
  Always,   // its value is kept if it may be needed again
};

struct Attr {
  AxisMask axes = 0;  // sum … any: those that are folded
  union {
    bool keepdims = false;  // folds, composites
    Update update;          // at_slice, at_index; Set by default
  };
  int8_t axis = 0;  // concat, take, scatter_add, at_index, argmax, argmin, scans, sorts, composites
  Keep keep = Keep::Default;  // whether its value outlives an evaluation
  union {
    bool unique = false;  // at_index: no position is known to come twice
    bool reversed;        // scans: from the end; sorts: the largest first; searches: see other.def
    uint8_t device;       // transfer: the id of the device of the result
  };
  Composite composite = Composite::None;  // custom
  AxisOrder order;                        // transpose: output axis i is input axis order[i]

  bool operator==(const Attr& other) const { return !std::memcmp(this, &other, sizeof other); }
};
static_assert(sizeof(Attr) == 16 && static_cast<int>(Update::Set) == 0);

// The range of a slice (or an embed, or an at_slice): element i of axis d comes from start[d] + i *
// step[d].
struct StridedSlice {
  PerAxis start, step;

  // All of a tensor of this rank.
  explicit StridedSlice(int64_t rank) {
    start.resize(rank);
    step.resize(rank);
    for (int64_t& one : step) one = 1;
  }
  bool operator==(const StridedSlice& other) const = default;
};

}  // namespace pullback
