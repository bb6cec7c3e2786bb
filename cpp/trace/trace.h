// Trace: a function recorded once and run many times. While it is open on this thread, variables
// are read and assigned inside the trace; closing it fixes a plan, its inputs and its assignments.
//
// replay() binds arguments, the variables' present values and fresh random draws to the plan and
// runs it: its results have no history. call() implements a call from Python: it runs the plan
// and gives results a history that is built only when a gradient needs it; or, for callers that are
// sure to differentiate, copies the recorded nodes into the caller's graph: nothing is computed
// before it is read, and nothing twice. Both copies are made by graph/rebuild.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "eval/evaluate.h"
#include "eval/open_traces.h"
#include "graph/closed_graph.h"
#include "graph/rebuild.h"
#include "graph/rule.h"
#include "graph/variable.h"
#include "plan/passes/cache.h"

namespace pullback {

class Trace : public VariableScope, public std::enable_shared_from_this<Trace> {
 public:
  // `name`: of the function and its place, for errors; may be empty.
  explicit Trace(std::string name = {});
  ~Trace() override;

  void open();
  void abandon();  // after an exception inside
  // Ends recording: `outputs` are what the function returned.
  void close(std::vector<NodeRef> outputs);

  // A weak argument represents a Python float: a float64, like every value computed from such
  // arguments only.
  NodeRef add_argument(DType dtype, const Shape& shape, bool weak, Device device = kAnyDevice);
  NodeRef read(Variable* variable) override;
  void assign(Variable* variable, const NodeRef& value) override;
  Origin* origin() const override { return origin_.get(); }
  uint64_t since() const override { return first_seq_; }

  // The number of tensors that a call returns.
  size_t returned() const { return returned_; }
  // Values for arguments must have the recorded dtypes and shapes (checked). `results` has
  // returned() places.
  void replay(std::span<const NodeRef> arguments, std::span<NodeRef> results);
  // The same, with histories of all results, except for a result whose history would have to keep a
  // value that an assignment replaces: it is marked (kHistoryLost). With `build`, a call with
  // something to differentiate copies operations and runs nothing.
  void call(std::span<const NodeRef> arguments, std::span<NodeRef> results, bool build);

  // The plan, one line a step.
  std::string describe(LineText line_of) const;
  // The recorded operations, one a line.
  std::string listing() const;

 private:
  struct State {
    Ref<Variable> variable;
    NodeRef initial;  // its value when the function starts; null until read
    NodeRef current;  // its value now, inside
  };
  // The source of an argument of the plan: `input` counts the function's arguments, then the
  // states; or it is a tensor from outside.
  struct Binding {
    size_t input = 0;
    NodeRef captured;
  };
  // A scalar of the plan: a value, or one of the call's draws, by its number among the inputs.
  struct PlanScalar {
    Scalar value;
    std::optional<int32_t> draw;
  };
  // The source of an output: the plan's outputs, or a value known before any run.
  struct Output {
    enum Kind : uint8_t { Planned, Known } kind = Known;
    size_t index = 0;
    NodeRef known;
  };
  class Call;
  // The decision about the history of a result, by increasing priority.
  enum class HistoryDecision : uint8_t { None, Lost, Kept };
  // For a result: sets of arguments and states, by 1 + their number.
  struct Dependence {
    std::vector<uint64_t> sources;  // a derivative may pass to them; 0: to tensors from outside
    std::vector<uint64_t> values;   // its value depends on them
    HistoryDecision decision = HistoryDecision::None;  // if no argument is tracked
  };

  State& state_of(Variable* variable);
  void record();
  void bind_inputs(const Snapshot& snapshot, std::span<const Replacement> replacements);
  void bind_outputs(const Snapshot& snapshot);
  [[noreturn]] void refuse_foreign_node(const Node* node, const Origin* origin) const;

  void check_arguments(std::span<const NodeRef> arguments) const;
  void run(std::span<const NodeRef> arguments, std::span<NodeRef> results,
           std::span<const HistoryDecision> decisions);
  bool run_once(std::span<const NodeRef> arguments, std::span<NodeRef> results,
                std::span<const HistoryDecision> decisions);
  const NodeRef& bound(const Binding& binding, std::span<const NodeRef> inputs) const;
  bool can_donate(const Binding& binding, const Node* node, std::span<const uint8_t> kept) const;
  void finish_updates();
  void inline_call(std::span<const NodeRef> arguments, std::span<NodeRef> results);

  // In trace_history.cpp.
  const std::vector<Dependence>& dependences();
  size_t assigned_state(const Node* read) const;
  HistoryDecision decide_history(const Dependence& dependence) const;
  bool captures_tracked() const;
  bool decide_histories(std::span<const NodeRef> arguments, std::span<HistoryDecision> decisions);
  std::vector<uint8_t> find_needed_inputs(std::span<const HistoryDecision> decisions);
  Ref<Call> remember_call(std::span<const NodeRef> inputs, std::span<const uint8_t> kept) const;
  void mark_results(std::span<NodeRef> results, std::span<const HistoryDecision> decisions,
                    Call* call);
  std::vector<NodeRef> rebuild_outputs(std::vector<NodeRef> values, const Call* call) const;

  bool open_ = false;
  VariableScope* outer_ = nullptr;
  Ref<TraceOrigin> origin_;
  std::vector<NodeRef> arguments_;
  std::vector<State> states_;
  std::unordered_map<const Variable*, size_t> state_index_;
  std::vector<size_t> assigned_;  // states with a new value
  size_t returned_ = 0;

  // Inputs: arguments, states (or null), random draws. Roots: returned values, then assigned
  // values.
  Ref<ClosedGraph> graph_;
  Subgraph record_;             // its nodes
  std::vector<Node*> outside_;  // nodes from outside, except numbers of the trace
  uint64_t first_seq_ = 0;      // first creation number of its nodes

  std::shared_ptr<const CachedPlan> plan_;
  std::vector<Binding> bindings_;
  std::vector<PlanScalar> scalars_;
  std::vector<Output> places_;
  std::vector<Dependence> dependences_;  // see dependences()
};

}  // namespace pullback
