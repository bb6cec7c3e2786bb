// The state of one call of a trace, from which copies of the recorded nodes are made.
#pragma once

#include <memory>
#include <vector>

#include "graph/rule.h"
#include "graph/runtime.h"
#include "trace/trace.h"

namespace pullback {

// The data of one call from which its history is built when a gradient requires it. Its nodes get
// numbers that were reserved at the call, so that tapes and the order of the graph treat them as
// made then.
class Trace::Call : public History {
 public:
  explicit Call(std::shared_ptr<const Trace> trace) : trace(std::move(trace)) {}
  void build(Node* result) override;
  bool is_built() const override { return !built.empty(); }
  bool passes_on(const Node* result) const override;

  std::shared_ptr<const Trace> trace;
  uint32_t scope = current_scope();  // of the caller
  // Arguments, reads of states, random counters; null if not kept.
  std::vector<NodeRef> inputs;
  std::vector<NodeRef> watched;     // watched only, when the call was made
  std::vector<NodeHandle> results;  // results whose history is built here
  std::vector<NodeRef> built;       // the outputs
};

}  // namespace pullback
