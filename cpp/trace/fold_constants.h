// Constant folding for traces: values that a function computes from arrays and numbers alone are
// the same in every call, so they are computed once, when the trace is closed.
#pragma once

#include <span>

#include "graph/node.h"

namespace pullback {

// Evaluates constant subgraphs among `outside`, the nodes from outside that a trace uses. Views
// stay views, arrays of one repeated number stay that number, and values much larger than their
// inputs are not folded.
void fold_constants(std::span<Node* const> outside);

}  // namespace pullback
