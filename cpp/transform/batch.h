// A piece of graph for many inputs at once: every tensor that depends on one gets a new first axis,
// the batch. vmap builds a function once on placeholders and makes it again like this; a jacobian
// is a reverse pass with a cotangent that is not known yet, and then all the cotangents at once.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/node.h"

namespace pullback {

struct Batching {
  std::vector<NodeRef> inputs;   // arguments (make_argument): what stands for one entry, and …
  std::vector<NodeRef> batches;  // … all of its entries along a first axis
  int64_t count = 0;             // how many these are
  // Random numbers whose nodes are no older are drawn for each entry; see BatchScope.
  uint64_t first_draw = UINT64_MAX;
};

// The roots, each with a first axis of length `count`: entry i is the root with batches[k][i] in
// the place of inputs[k], for all k. Operations go over the whole batch in one; those that cannot
// raise Error (NotImplemented) with their name. Rules of users hold, and are asked once, for one
// entry.
std::vector<NodeRef> batched(std::vector<NodeRef> roots, const Batching& batching);

// The same where each entry may be made by itself if some operation cannot be made for all at once.
// Nothing where a rule of a user is in the way of that.
std::optional<std::vector<NodeRef>> batched_or_each(std::vector<NodeRef> roots,
                                                    const Batching& batching);

}  // namespace pullback
