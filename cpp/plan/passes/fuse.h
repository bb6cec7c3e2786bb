// Fusion: groups nodes into units that are computed together, and orders the units. A unit becomes
// one step; start at fuse().
#pragma once

#include <vector>

#include "plan/passes/iteration_domains.h"
#include "plan/passes/simplify.h"

namespace pullback {

// A unit becomes one step (or several copies). A tile unit is a set of nodes of one iteration
// domain.
struct Unit {
  bool tiles = false;
  int64_t count = 0;              // of a tile unit: its elements
  int64_t length = 1;             // of a tile unit: the length of its rows
  std::vector<uint32_t> members;  // oldest first
  int32_t then = -1;              // of a product: its epilogue, which is the next unit
};

struct Fusion {
  std::vector<Unit> units;       // in running order
  std::vector<int32_t> unit_of;  // of each computed node
  // Per node: its value costs less to compute again than to store and load.
  std::vector<uint8_t> cheap;
  IterationDomains domains;
};

// Every node has a schedule depth: how many times, on the longest path to it, a value must be
// finished before the next operation can start. Nodes of one iteration domain and one depth are a
// unit. A node whose value is used at larger depths only moves there if what it reads is in memory
// anyway. Values flow to larger depths or stay within their unit, so no cycle can arise.
Fusion fuse(const Analysis& analysis, const Limits& limits);

}  // namespace pullback
