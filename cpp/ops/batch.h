// A piece of graph for many inputs at once: every tensor that depends on one gets a new first axis,
// a row for each. What a jacobian needs of its reverse pass: one pass with a cotangent that is not
// known yet, and then all the cotangents at once.
#pragma once

#include <span>
#include <vector>

#include "graph/node.h"

namespace pullback {

// The roots, each with a first axis of the length of the rows: entry i is the root with rows[k][i]
// in the place of inputs[k], for all k. The inputs are arguments (make_argument). All kinds of
// operations go over all rows in one, but for rules in Python, which see one row each, and
// positions that depend on the inputs.
std::vector<Ref<Node>> over_rows(std::vector<Ref<Node>> roots, std::span<Node* const> inputs,
                                 std::span<const Ref<Node>> rows);

}  // namespace pullback
