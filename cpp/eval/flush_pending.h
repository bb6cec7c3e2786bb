// flush_pending(): evaluates pending results (graph/pending_results.h) that alone keep larger
// values alive.
#pragma once

namespace pullback {

// May release the interpreter lock. Results that fail stay pending and raise when they are read.
void flush_pending();

}  // namespace pullback
