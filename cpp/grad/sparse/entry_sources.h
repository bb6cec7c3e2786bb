// Maps the sources of the entries of a node's inputs to the sources of its own entries, for each
// kind of operation.
#pragma once

#include <span>
#include <vector>

#include "grad/sparse/index_sets.h"
#include "graph/node.h"

namespace pullback {

// For each entry of a node, the set of entries that it depends on; an empty list if no entry
// depends on any.
using EntrySources = std::vector<IndexSets::Id>;

// True if the last input contains positions. If these have no value, they may be anywhere.
bool has_positions(Op op);

// in[k] are the sources of input k, for the inputs that affect the value.
EntrySources sources_of(const Node* node, std::span<const EntrySources* const> in, IndexSets* sets);

}  // namespace pullback
