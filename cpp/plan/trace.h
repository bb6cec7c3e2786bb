// Trace: a function recorded once and replayed. While it is open on this thread, variables are read
// and assigned inside the trace; closing it fixes a plan, its inputs and what it assigns.
//
// A replay binds arguments, the variables' present values and fresh random counters to the plan and
// runs it. Where somebody may want to differentiate through a call, inline_call() copies the
// recorded nodes into the caller's graph instead.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/variable.h"
#include "plan/cache.h"
#include "plan/evaluate.h"

namespace pullback {

class Trace : public VariableScope {
 public:
  Trace() = default;
  ~Trace() override;

  void open();
  void abandon();  // after an exception inside
  // Ends recording: `outputs` are what the function returned.
  void close(std::vector<Ref<Node>> outputs);

  // A weak argument stands for a Python float: float64, and like one in what is made from it.
  Ref<Node> add_argument(DType dtype, const Shape& shape, bool weak);
  Ref<Node> read(Variable* variable) override;
  void assign(Variable* variable, const Ref<Node>& value) override;

  // Values for arguments must have the recorded dtypes and shapes (checked).
  std::vector<Ref<Node>> replay(std::span<const Ref<Node>> arguments);
  std::vector<Ref<Node>> inline_call(std::span<const Ref<Node>> arguments);

  bool reads_trainable() const;
  // Whether what it returns depends on a tracked tensor that was made outside.
  bool captures_tracked() const { return captures_tracked_; }
  bool assigns() const { return !assigned_.empty(); }
  std::string describe() const;
  // Whether any trace is open on this thread.
  static bool active();

 private:
  struct State {
    Ref<Variable> variable;
    Ref<Node> initial;  // its value when the function starts; null until read
    Ref<Node> current;  // its value now, inside
  };
  // Where an argument of the plan comes from.
  struct Binding {
    enum Kind : uint8_t { Argument, Variable, Captured } kind;
    size_t index = 0;  // of arguments_ or states_
    Ref<Node> captured;
  };
  // Where an output comes from: the plan, or a value known before any run.
  struct Output {
    int32_t place = -1;
    Ref<Node> known;
  };

  State& state_of(Variable* variable);
  void check_arguments(std::span<const Ref<Node>> arguments) const;
  // Gives a run what the plan's arguments stand for, evaluated.
  void bind(std::span<const Ref<Node>> arguments, PlanRun* run) const;

  bool open_ = false;
  bool captures_tracked_ = false;
  VariableScope* outer_ = nullptr;
  std::vector<Ref<Node>> arguments_;
  std::vector<State> states_;
  std::unordered_map<const Variable*, size_t> state_index_;
  std::vector<size_t> assigned_;    // states with a new value
  std::vector<Ref<Node>> outputs_;  // returned, then assigned values; they keep the graph
  size_t returned_ = 0;
  std::shared_ptr<const CachedPlan> plan_;
  std::vector<Binding> bindings_;
  std::vector<Ref<Node>> scalars_;
  std::vector<Output> places_;
};

}  // namespace pullback
