// Constant folding for traces: values that a function computes from arrays and numbers alone are
// the same in every call, so they are computed once, when the trace is closed.
#pragma once

#include <span>

#include "graph/node.h"

namespace pullback {

// Evaluates what is worth it among `outside`, nodes from outside that a trace uses, and below them.
// Views stay views, arrays of one repeated number stay that number, and nothing is folded whose
// value is much larger than what it is made from.
void fold_constants(std::span<Node* const> outside);

}  // namespace pullback
