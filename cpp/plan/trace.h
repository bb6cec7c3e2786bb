// Trace: a function recorded once and run many times. While it is open on this thread, variables
// are read and assigned inside the trace; closing it fixes a plan, its inputs and what it assigns.
//
// A call is made in one of three ways. replay() binds arguments, the variables' present values and
// fresh random draws to the plan and runs it: its results have no history. replay_tracked() does
// the same, and gives results that depend on a tracked input a history that is built only when a
// gradient asks for it. inline_call() copies the recorded nodes into the caller's graph, for
// callers that are sure to differentiate: nothing is computed before somebody looks, and nothing
// twice.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/rule.h"
#include "graph/variable.h"
#include "plan/cache.h"
#include "plan/evaluate.h"

namespace pullback {

// Which trace an argument node belongs to, for errors about tensors that have no value. It is the
// node's rule, which no leaf has otherwise.
struct TraceOrigin : Rule {
  bool open = true;  // still being traced; `name` says what
  std::vector<Cotangent> apply(const RuleCall&) override { return {}; }
};

class Trace : public VariableScope, public std::enable_shared_from_this<Trace> {
 public:
  // `name`: of the function and its place, for errors; may be empty.
  explicit Trace(std::string name = {});
  ~Trace() override;

  void open();
  void abandon();  // after an exception inside
  // Ends recording: `outputs` are what the function returned.
  void close(std::vector<Ref<Node>> outputs);

  // A weak argument stands for a Python float: float64, and like one in what is made from it.
  Ref<Node> add_argument(DType dtype, const Shape& shape, bool weak);
  Ref<Node> read(Variable* variable) override;
  void assign(Variable* variable, const Ref<Node>& value) override;

  // How many tensors a call returns.
  size_t returned() const { return returned_; }
  // Values for arguments must have the recorded dtypes and shapes (checked). `results` has
  // returned() places.
  void replay(std::span<const Ref<Node>> arguments, std::span<Ref<Node>> results);
  void replay_tracked(std::span<const Ref<Node>> arguments, std::span<Ref<Node>> results);
  void inline_call(std::span<const Ref<Node>> arguments, std::span<Ref<Node>> results);

  bool reads_trainable() const { return reads_trainable_; }
  // Whether what it returns depends on a tensor from outside that is tracked, or watched by now.
  bool captures_tracked() const;
  bool assigns() const { return !assigned_.empty(); }
  // Whether it holds the call of a custom_gradient. Such a rule holds tensors of this trace, so
  // neither inline_call nor replay_tracked may be used.
  bool has_own_rules() const { return has_own_rules_; }
  // The plan, one line a step.
  std::string describe() const;
  // The recorded operations, one a line.
  std::string listing() const;
  // Whether any trace is open on this thread.
  static bool active();

 private:
  struct State {
    Ref<Variable> variable;
    Ref<Node> initial;  // its value when the function starts; null until read
    Ref<Node> current;  // its value now, inside
  };
  // Where an argument of the plan comes from: `input` counts the function's arguments, then the
  // states; or it is a tensor from outside.
  struct Binding {
    size_t input = 0;
    Ref<Node> captured;
  };
  // What a random operation takes anew in each call.
  enum class Draw : uint8_t { Seed, Counter };
  // A scalar of the plan: a value, or one of the call's draws.
  struct PlanScalar {
    Scalar value;
    int32_t draw = -1;
  };
  // Where an output comes from: the plan's outputs, or a value known before any run.
  struct Output {
    enum Kind : uint8_t { Planned, Known } kind = Known;
    size_t index = 0;
    Ref<Node> known;
  };
  // One node of the record. Its inputs are links_[links …], each a position in recorded_, or -1 for
  // a node from outside, which every instance shares.
  struct Recorded {
    Node* node;  // kept by outputs_
    uint32_t links = 0;
    int32_t input = -1;  // an argument or a variable's initial value: which input
    int32_t draw = -1;   // a random operation's seed or counter: which one
  };
  class Call;

  State& state_of(Variable* variable);
  std::vector<Node*> roots() const;
  void record();
  void bind_inputs(const Snapshot& snapshot);
  void bind_outputs(const Snapshot& snapshot);
  [[noreturn]] void refuse_stranger(const Node* node) const;

  void check_arguments(std::span<const Ref<Node>> arguments) const;
  void run(std::span<const Ref<Node>> arguments, std::span<Ref<Node>> results, Call* call);
  bool dies(const Binding& binding, const Node* node, const Call* call) const;
  void defer_histories(std::span<Ref<Node>> results, std::span<const Ref<Node>> inputs, Call* call);
  // Copies of the outputs and what is below them. With `call`, as of that call.
  std::vector<Ref<Node>> instance(std::span<const Ref<Node>> inputs, const Call* call) const;
  static Scalar drawn(Draw draw);
  Ref<Node> copy_of(const Recorded& recorded, std::span<const Ref<Node>> copies) const;
  const std::vector<uint64_t>& reach();

  bool open_ = false;
  bool reads_trainable_ = false;
  bool has_own_rules_ = false;
  VariableScope* outer_ = nullptr;
  Ref<TraceOrigin> origin_;
  std::vector<Ref<Node>> arguments_;
  std::vector<State> states_;
  std::unordered_map<const Variable*, size_t> state_index_;
  std::vector<size_t> assigned_;    // states with a new value
  std::vector<Ref<Node>> outputs_;  // returned, then assigned values; they keep the graph
  size_t returned_ = 0;

  std::vector<Recorded> recorded_;  // oldest first
  std::vector<int32_t> links_;
  std::vector<Node*> outside_;      // what it uses from outside, but for its own numbers
  std::vector<int32_t> output_at_;  // per output its position in recorded_, or -1
  std::vector<Draw> draws_;

  std::shared_ptr<const CachedPlan> plan_;
  std::vector<Binding> bindings_;
  std::vector<PlanScalar> scalars_;
  std::vector<Output> places_;
  std::vector<uint64_t> reach_;  // see reach()
};

}  // namespace pullback
