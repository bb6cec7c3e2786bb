// Computes parts (graph/pending_results.h) that nobody has looked at and that alone keep larger
// values alive.
#pragma once

namespace pullback {

// May give the lock away. What fails stays pending and raises where somebody looks.
void flush_pending();

}  // namespace pullback
