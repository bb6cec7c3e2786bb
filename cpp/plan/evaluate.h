// Evaluation: from nodes somebody looks at to their values.
//
// Three parts. Prepare (snapshot, plan, buffers) and publish touch the graph and need the
// interpreter lock; run touches buffers only and goes without it. The binding supplies the two
// halves of giving the lock away, so that the core stays free of Python.
#pragma once

#include <span>

#include "graph/node.h"
#include "plan/cache.h"

namespace pullback {

// Set by the binding; the defaults do nothing.
struct LockHooks {
  void* (*release)() = nullptr;            // before a run
  void (*acquire)(void* state) = nullptr;  // after it
  bool (*interrupted)() = nullptr;         // polled while running, without the lock
  void (*check_signals)() = nullptr;       // after an interrupted run, with the lock; throws
};
void set_lock_hooks(const LockHooks& hooks);

// Computes every root, and every pending update of a variable in the same plan. On any error
// nothing is published and every tensor is as it was.
void evaluate(std::span<Node* const> roots);
inline void evaluate(Node* root) { evaluate(std::span<Node* const>(&root, 1)); }

// Runs a plan on given memory; `owned` receives a buffer for each of its Output slots. Raises what
// the plan reports.
void run_plan(const CachedPlan& cached, const void* const* arguments, const Scalar* scalars,
              Ref<Buffer>* owned);

// What to say about a node that has no value because it belongs to a trace.
[[noreturn]] void refuse_traced(Node* node, const std::string& who, const std::string& advice);

// Connects the hooks of the lower layers (deep chains, second updates) to evaluate().
void install_evaluation();

// The listing of the plan that evaluate(roots) would run.
std::string describe_plan(std::span<Node* const> roots);

}  // namespace pullback
