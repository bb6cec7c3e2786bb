// CallbackOrigin: keeps a Python function alive that a plan calls; the origin of the scalar node
// that identifies it. See base/callback.h.
#pragma once

#include "base/callback.h"
#include "graph/rule.h"

namespace pullback {

struct CallbackOrigin : Origin, Callback {
  // Accepts arrays with additional leading axes: one call for a batch.
  bool takes_batches = false;
};

inline bool is_callback(const Node* node) {
  return node->op == Op::scalar && dynamic_cast<const CallbackOrigin*>(node->origin.get());
}
// True for a scalar that each run passes to a body (a draw or a callback): its value is not part of
// the plan.
inline bool is_run_scalar(const Node* node) { return is_draw(node) || is_callback(node); }

}  // namespace pullback
