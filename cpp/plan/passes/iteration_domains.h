// Iteration domains: finds the nodes that can be computed together, by their shapes alone.
//
// A domain is a number of elements, arranged in rows of the length that a reduction or a broadcast
// requires. The value of a node has an entry for each element or for each row of its domain. Nodes
// are in one domain if they read each other's values, or the same memory, in order: merging others
// would only keep more memory alive (small domains of one size are merged nevertheless, for fewer
// steps). Start at find_iteration_domains().
#pragma once

#include <vector>

#include "plan/backend.h"
#include "plan/passes/simplify.h"

namespace pullback {

enum class FoldKind : uint8_t {
  None,
  Rows,     // of rows, available inside of the group
  End,      // of everything or of columns: available after the group
  General,  // of any form: the only reduction of its group
};

struct IterationDomains {
  std::vector<uint32_t> domain;  // per tile node: its domain
  std::vector<uint8_t> row;      // per tile node: its value has one entry per row
  std::vector<FoldKind> fold;    // per reduction
  std::vector<int64_t> count;    // per domain: elements
  std::vector<int64_t> length;   // per domain: length of a row

  // True if tile node i, in one group with the base of the read, can read it inside of the group.
  bool inside(const Analysis& a, uint32_t i, const Read& read) const;
};

IterationDomains find_iteration_domains(const Analysis& analysis, const Limits& limits);

}  // namespace pullback
