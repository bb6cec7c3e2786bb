// Counts the open traces of each thread.
#include "eval/open_traces.h"

namespace pullback {
namespace {

thread_local int open_traces = 0;

}  // namespace

bool is_tracing() { return open_traces > 0; }

void count_open_traces(int change) { open_traces += change; }

}  // namespace pullback
