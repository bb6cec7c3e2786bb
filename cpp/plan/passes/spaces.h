// Iteration spaces: finds the nodes that can be computed together, by their shapes alone.
//
// A space is a number of elements, arranged in rows of the length that a reduction or a broadcast
// requires. The value of a node has an entry for each element or for each row of its space. Nodes
// are in one space if they read each other's values, or the same memory, in order: merging others
// would only keep more memory alive (small spaces of one size are merged nevertheless, for fewer
// steps). Start at find_spaces().
#pragma once

#include <vector>

#include "plan/backend.h"
#include "plan/passes/simplify.h"

namespace pullback {

enum class FoldKind : uint8_t {
  None,
  Rows,     // its value has an entry for each row, known within the group
  End,      // everything, or columns: known when the group is done
  General,  // any form: the only reduction of its group
};

struct Spaces {
  std::vector<uint32_t> space;  // of a tile node
  std::vector<uint8_t> row;     // its value has one entry a row
  std::vector<FoldKind> fold;   // of a reduction
  std::vector<int64_t> count;   // by space: elements …
  std::vector<int64_t> length;  // … and the length of a row

  // Whether tile node i, in one group with what the view reads, can read it there.
  bool inside(const Analysis& a, uint32_t i, const Read& read) const;
};

Spaces find_spaces(const Analysis& analysis, const Limits& limits);

}  // namespace pullback
