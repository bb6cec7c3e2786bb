// Evaluation: computes the values of nodes.
//
// It has three parts. Prepare (snapshot, plan, buffers) and publish read and write the graph and
// need the interpreter lock; the run reads and writes buffers only and releases it, by functions of
// Runtime (graph/runtime.h), so that the core stays free of Python.
//
// While the lock is released (in a run, in a wait for the run of another thread) other threads
// assign, drop handles and evaluate. So no plain pointer to a node, and no reference into a
// variable, lives across a release: hold a NodeRef, or read the list again.
//
// Start at evaluate(); PlanRun is one run of a plan.
#pragma once

#include <span>
#include <vector>

#include "graph/node.h"
#include "plan/passes/cache.h"

namespace pullback {

// Computes every root, and every pending update of a variable in the same plan. On any error
// nothing is published and every tensor is as it was.
void evaluate(std::span<Node* const> roots);
inline void evaluate(Node* root) { evaluate(std::span<Node* const>(&root, 1)); }

// One run of a plan. The thread keeps the vectors, so that a run allocates nothing but its outputs.
class PlanRun {
 public:
  PlanRun();
  ~PlanRun();
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  // In the order of the plan. `donatable`: the value is not needed after the run, so the plan may
  // write an output into its memory (Plan::donated_arguments) if the buffer is not shared. A node
  // without a value must be an argument that no step reads.
  void add_argument(Node* node, bool donatable);
  void add_scalar(Scalar scalar) { vectors_.scalars.push_back(scalar); }
  // A scalar whose origin the run calls.
  void hold(Node* scalar) { vectors_.held.emplace_back(scalar); }
  // Results: one buffer per plan output. Raises what the plan reports; then nothing has changed.
  void run(const CachedPlan& cached);
  const Ref<Buffer>& result(size_t output) const { return vectors_.results[output]; }
  // The numbers of the nodes that were updated in place: their values are the new ones now.
  std::span<const uint64_t> replaced() const { return vectors_.replaced; }

 private:
  struct Vectors {
    std::vector<NodeRef> nodes;  // donatable ones; null for the others
    std::vector<NodeRef> held;
    std::vector<Ref<Buffer>> arguments, owned, results;
    std::vector<Scalar> scalars;
    std::vector<uint64_t> replaced;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
  };

  bool take_donated(int32_t argument);
  void give_back();

  static thread_local Vectors spare;
  Vectors vectors_;
};

// Exists during a call from a run back into the program: while it does, the runs of this thread let
// those of other threads go first. The program may wait for a thread that evaluates. Plans with
// such a call update nothing in place (plan/passes/plan_memory.cpp), so no other thread waits for
// this run.
class CallbackScope {
 public:
  CallbackScope() noexcept;
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  int depth_;  // runs of this thread, one inside the other
};

// Raises the error for a node that has no value because it belongs to a trace.
[[noreturn]] void refuse_traced(Node* node, const std::string& who, const std::string& advice);

// Sets the functions of Runtime that evaluate.
void install_evaluation();

// The listing of the plan that evaluate(roots) would run.
std::string describe_plan(std::span<Node* const> roots);

}  // namespace pullback
