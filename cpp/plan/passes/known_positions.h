// Positions of take, scatter_add and at_index that are known when a plan is made, as runs with a
// constant step. Such an operation moves slices: a view, or a copy per run. Only traced functions
// have known positions, since each list of positions needs a plan of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/node.h"

namespace pullback {

// start, start + step, … : `count` positions, counted from the start of the axis.
struct PositionRun {
  int64_t start, step, count;
};

// The positions of an operation along its axis, in order; empty if they are unknown, out of range,
// or not a few runs, or if several of them write to one entry.
std::vector<PositionRun> known_positions(const Node* node);

}  // namespace pullback
