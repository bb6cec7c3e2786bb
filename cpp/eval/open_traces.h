// is_tracing() and TraceOrigin: whether a function is being traced, and the trace of an argument.
// Traces themselves are in trace/, above evaluation.
#pragma once

#include "graph/rule.h"

namespace pullback {

// The trace that an argument node belongs to, for errors about tensors without a value.
struct TraceOrigin : Origin {
  bool open = true;   // still being traced
  bool body = false;  // a body of a loop or branch, whose tensors no call returns
};

// True if any trace is open on this thread.
bool is_tracing();
// Adds `change` (1 or -1) to the count.
void count_open_traces(int change);

}  // namespace pullback
