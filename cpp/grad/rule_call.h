// Calls a gradient rule that is not the row of an operation, for both directions, and checks its
// results.
#pragma once

#include <span>
#include <vector>

#include "grad/connectivity.h"
#include "graph/rule.h"

namespace pullback {

// The results of `edges.rule` for `edges.inputs`. `outputs` are those of the operation (null if
// freed), with a cotangent for each. Raises Error with the operation, the rule and the input for a
// wrong count, dtype or shape. `overrides` are those of the calling pass.
std::vector<Cotangent> call_rule(Node* node, const Connectivity::BackwardEdges& edges,
                                 std::span<Node* const> outputs,
                                 std::span<const NodeRef> cotangents, const OverrideMap* overrides);

}  // namespace pullback
