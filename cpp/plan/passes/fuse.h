// Fusion: collects nodes into fusion groups, which are computed together, and orders the groups. A
// group becomes one step; start at fuse().
#pragma once

#include <vector>

#include "plan/passes/iteration_domains.h"
#include "plan/passes/simplify.h"

namespace pullback {

// The nodes that become one step (or several copies). `tiles`: nodes of one iteration domain, which
// become a tile group; otherwise one node with a step of its own.
struct FusionGroup {
  bool tiles = false;
  int64_t count = 0;              // elements of the domain, if `tiles`
  int64_t length = 1;             // elements of a row, if `tiles`
  std::vector<uint32_t> members;  // oldest first
  int32_t epilogue = -1;          // of a product: its epilogue, which is the next group
};

struct Fusion {
  std::vector<FusionGroup> groups;  // in running order
  std::vector<int32_t> group_of;    // of each computed node
  // Per node: its value costs less to compute again than to store and load.
  std::vector<uint8_t> cheap;
  IterationDomains domains;
};

// Every node has a schedule depth: the number of values on the longest path to it that must be
// finished before the next operation can start. Nodes of one iteration domain and one depth are a
// group. A node whose value is used at larger depths only moves there if its operands are in memory
// anyway. Values flow to larger depths or stay within their group, so no cycle can arise.
Fusion fuse(const Analysis& analysis, const Limits& limits);

}  // namespace pullback
