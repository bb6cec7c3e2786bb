// Fusion: which nodes are computed together.
#pragma once

#include <span>
#include <vector>

#include "plan/snapshot.h"
#include "plan/views.h"

namespace pullback {

// A unit becomes one step (or a few copies). A tile unit is a set of elementwise nodes over the
// same number of elements, with at most one reduction at its end.
struct Unit {
  uint32_t last = 0;  // position of its newest node; units run in this order
  bool tiles = false;
  int64_t count = 0;              // elements of a tile unit
  std::vector<uint32_t> members;  // newest first while fusing
};

// What the planner knows about each node of the snapshot.
struct Analysis {
  enum Kind : uint8_t {
    Input,        // a leaf with memory
    Number,       // a scalar leaf
    Window,       // a view: never computed
    Elementwise,  // a tile instruction
    Copy,         // a tile "instruction" that only moves: a view that must be made real
    Fold,         // a reduction
    Other,        // a step of its own
  };
  const Snapshot* snapshot;
  std::vector<Kind> kind;
  std::vector<NodeView> view;      // where to find a node's value
  std::vector<NodeView> operands;  // what computed nodes read, node after node …
  std::vector<uint32_t> begin;     // … and where each node's start; one entry past the last
  std::vector<uint8_t> stored;     // its value leaves the plan
  std::vector<int32_t> unit_of;
  std::vector<Unit> units;  // sorted by `last` after fuse()

  std::span<const NodeView> reads(uint32_t node) const {
    return {operands.data() + begin[node], operands.data() + begin[node + 1]};
  }
};

// Resolves views and decides which wanted views must be copied.
Analysis analyse(const Snapshot& snapshot);

// Groups elementwise nodes. One pass from the newest node to the oldest: a node joins the earliest
// unit that uses it, if that is a tile unit of the same element count which reads it in order.
// Units run by the position of their newest node, so every value flows from an earlier unit to a
// later one and no cycle can arise.
void fuse(Analysis* analysis);

}  // namespace pullback
