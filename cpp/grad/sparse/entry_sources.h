// Maps the sources of the entries of a node's inputs to the sources of its own entries, for each
// kind of operation.
#pragma once

#include <span>
#include <vector>

#include "grad/sparse/index_sets.h"
#include "graph/node.h"

namespace pullback {

// For each entry of a node the set of those that it is made from; empty where that is none for all.
using EntrySources = std::vector<IndexSets::Id>;

// Whether the last input says where entries are. Where these have no value, they may be anywhere.
bool has_positions(Op op);

// in[k] are those of input k, for the inputs that have a say in the value.
EntrySources sources_of(const Node* node, std::span<const EntrySources* const> in, IndexSets* sets);

}  // namespace pullback
