// The state of one call of a trace, from which copies of the recorded nodes are made.
#pragma once

#include <memory>
#include <vector>

#include "graph/rule.h"
#include "trace/trace.h"

namespace pullback {

// The inputs of one call, for rules that are asked later.
struct Trace::CallInputs {
  int64_t refs = 0;
  std::shared_ptr<const Trace> trace;
  // Arguments, what was read of the states, random counters; null where it was not kept.
  std::vector<NodeRef> values;

  friend void add_ref(CallInputs* inputs) { ++inputs->refs; }
  friend void release(CallInputs* inputs) {
    if (--inputs->refs == 0) delete inputs;
  }
};

// What one call saw, so that its history can be built when somebody asks for a gradient. Its nodes
// get numbers that were set aside at the call: to tapes and to the order of the graph it is as if
// they had been made then.
class Trace::Call : public History {
 public:
  explicit Call(std::shared_ptr<const Trace> trace) : trace(std::move(trace)) {}
  void build(Node* result) override;
  bool is_built() const override { return !built.empty(); }
  bool passes_on(const Node* result) const override;

  std::shared_ptr<const Trace> trace;
  uint32_t scope = current_scope();  // of the caller
  std::vector<NodeRef> inputs;       // as in CallInputs
  std::vector<NodeRef> watched;      // by tapes only, when the call was made
  std::vector<NodeHandle> results;   // those that have their history from here
  std::vector<NodeRef> built;        // the outputs
};

}  // namespace pullback
