// Indexing with positions that differ between the entries of a batch. The tables of all entries are
// concatenated; the positions of entry b start at b times the length of one table.
#pragma once

#include "ops/ops.h"

namespace pullback {

// take, scatter_add and at_index like `node` with the inputs `in`. An input has the batch as its
// first axis if its rank is one more than that of the node's input.
NodeRef batched_index(const Node* node, std::span<const NodeRef> in, int64_t count);
// searchsorted for a sorted array that differs between entries: counts by comparing with all
// numbers.
NodeRef batched_search(const Node* node, const NodeRef& sorted, const NodeRef& x, int64_t count);
// `x` with its first axis, a batch, as the last one. Entries taken from a table that is not larger
// are taken as whole batches from the transposed table, after the elementwise operations on them.
NodeRef batch_last(const NodeRef& x);

}  // namespace pullback
