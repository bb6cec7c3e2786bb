// Fusion: groups nodes into units that are computed together, and orders the units. A unit becomes
// one step; start at fuse().
#pragma once

#include <vector>

#include "plan/passes/simplify.h"
#include "plan/passes/spaces.h"

namespace pullback {

// A unit becomes one step (or a few copies). A tile unit is a set of nodes of one space.
struct Unit {
  bool tiles = false;
  int64_t count = 0;              // of a tile unit: its elements …
  int64_t length = 1;             // … and the length of its rows
  std::vector<uint32_t> members;  // oldest first
  int32_t then = -1;  // of a product: the unit that runs as its epilogue. It is the next one.
};

struct Fusion {
  std::vector<Unit> units;       // in running order
  std::vector<int32_t> unit_of;  // of each computed node
  // Of each node: its value costs less to compute again than to store and load.
  std::vector<uint8_t> cheap;
  Spaces spaces;
};

// Every node has a level: how many times, on the longest way to it, a value must be finished before
// the next operation can start. Nodes of one space and one level are a unit. A node whose value
// only later levels use moves there if what it reads is in memory anyway. Values flow from lower
// levels to higher ones or stay within their unit, so no cycle can arise.
Fusion fuse(const Analysis& analysis, const Limits& limits);

}  // namespace pullback
