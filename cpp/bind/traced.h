// Refusals: looking at a tensor that has no value because a function is being traced.
#pragma once

#include <string>

#include "graph/node.h"

namespace pullback {

// Raises RuntimeError for a traced tensor, with the user's file and line; `advice` says what to do
// instead.
void check_has_value(const Ref<Node>& x, const char* who, const char* advice);

// " (train.py:12)": the innermost Python frame outside of this package; empty where there is none.
std::string user_place();

}  // namespace pullback
