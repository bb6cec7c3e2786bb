// Operations at positions that differ between the entries of a batch: the entries' tables one under
// the other are one table, in which entry b's positions start at b times its length.
#pragma once

#include "ops/ops.h"

namespace pullback {

// take, scatter_add and at_index like `node`, whose inputs have become `in`; an input has the batch
// as first axis if its rank is one more than that of the node's.
NodeRef batched_index(const Node* node, std::span<const NodeRef> in, int64_t count);
// searchsorted where what is sorted differs too: it counts by comparing with all.
NodeRef batched_search(const Node* node, const NodeRef& sorted, const NodeRef& x, int64_t count);

}  // namespace pullback
