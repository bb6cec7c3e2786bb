// Calls a gradient rule that is not the row of an operation, for both directions, and checks its
// answers.
#pragma once

#include <span>
#include <vector>

#include "grad/connectivity.h"
#include "graph/rule.h"

namespace pullback {

// What `exit.rule` answers for the exit's inputs. `outputs` are those of the operation, null for
// one that is gone, and there is a cotangent for each. Raises Error, with the operation, the rule
// and its place in it, for another count, dtype or shape. `overrides` are those of the caller.
std::vector<Cotangent> call_rule(Node* node, const Connectivity::Exit& exit,
                                 std::span<Node* const> outputs,
                                 std::span<const NodeRef> cotangents, const OverrideMap* overrides);

}  // namespace pullback
