// A piece of graph for many inputs at once: every tensor that depends on one gets a new first axis,
// the batch. What a jacobian needs of its reverse pass: one pass with a cotangent that is not known
// yet, and then all the cotangents at once.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/node.h"

namespace pullback {

// The roots, each with a first axis of the length of the batches: entry i is the root with
// batches[k][i] in the place of inputs[k], for all k. The inputs are arguments (make_argument).
// Operations go over the whole batch in one, but for those that cannot: then each entry is made by
// itself. Nothing where a rule of a user is in the way: what it has answered may hold the inputs.
std::optional<std::vector<Ref<Node>>> batched(std::vector<Ref<Node>> roots,
                                              std::span<const Ref<Node>> inputs,
                                              std::span<const Ref<Node>> batches);

}  // namespace pullback
