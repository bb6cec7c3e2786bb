// Whether a function is being traced, and which trace an argument belongs to. The traces themselves
// are in trace/, above evaluation.
#pragma once

#include "graph/rule.h"

namespace pullback {

// Which trace an argument node belongs to, for errors about tensors that have no value.
struct TraceOrigin : Origin {
  bool open = true;   // still being traced
  bool body = false;  // of a loop or a branch, whose inside no call returns
};

// Whether any trace is open on this thread.
bool is_tracing();
// One more of them, or one less.
void count_open_traces(int change);

}  // namespace pullback
