#include "plan/trace.h"

#include "base/error.h"
#include "graph/make.h"
#include "graph/walk.h"
#include "ops/ops.h"
#include "plan/snapshot.h"

namespace pullback {
namespace {

thread_local int open_traces = 0;

Scalar fresh(const Node* scalar) {
  if (!(scalar->flags & kCounter)) return scalar->scalar;
  Scalar next;
  next.i = next_random_counter();
  return next;
}

}  // namespace

Trace::~Trace() {
  if (open_) abandon();
}

bool Trace::active() { return open_traces > 0; }

void Trace::open() {
  open_ = true;
  ++open_traces;
  outer_ = set_variable_scope(this);
}

void Trace::abandon() {
  open_ = false;
  --open_traces;
  set_variable_scope(outer_);
}

Ref<Node> Trace::add_argument(DType dtype, const Shape& shape, bool weak) {
  arguments_.push_back(make_argument(dtype, shape));
  if (weak) arguments_.back()->flags |= kWeak;
  return arguments_.back();
}

Trace::State& Trace::state_of(Variable* variable) {
  const auto [it, fresh] = state_index_.try_emplace(variable, states_.size());
  if (fresh) states_.push_back({Ref<Variable>(variable), nullptr, nullptr});
  return states_[it->second];
}

Ref<Node> Trace::read(Variable* variable) {
  State& state = state_of(variable);
  if (!state.current) {
    state.initial = make_argument(variable->dtype, variable->shape);
    state.initial->variable = variable->id;
    state.current = state.initial;
  }
  return state.current;
}

void Trace::assign(Variable* variable, const Ref<Node>& value) {
  State& state = state_of(variable);
  // Like any read after an assignment: the variable's, but no path to what was assigned.
  Node* input = value.get();
  Ref<Node> node = make_node(Op::read, value->dtype, value->shape, {&input, 1});
  node->flags |= kTracked | kTraced;
  node->variable = variable->id;
  state.current = std::move(node);
}

void Trace::close(std::vector<Ref<Node>> outputs) {
  abandon();
  outputs_ = std::move(outputs);
  returned_ = outputs_.size();
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].current == states_[i].initial) continue;
    assigned_.push_back(i);
    outputs_.push_back(states_[i].current);
  }
  std::vector<Node*> roots;
  for (const Ref<Node>& output : outputs_) roots.push_back(output.get());
  std::vector<Node*> reached;
  walk(std::span<Node* const>(roots), &reached, [](const Node* node) {
    return node->flags & kTraced ? node->inputs() : std::span<Node* const>();
  });
  for (const Node* node : reached) {
    captures_tracked_ |= !(node->flags & kTraced) && node->tracked();
  }
  const Snapshot snapshot = take_snapshot(roots, false);
  if (!snapshot.nodes.empty()) plan_ = find_plan(snapshot);
  std::unordered_map<const Node*, Binding> known;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    known[arguments_[i].get()] = {Binding::Argument, i, nullptr};
  }
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].initial) known[states_[i].initial.get()] = {Binding::Variable, i, nullptr};
  }
  for (uint32_t i : snapshot.arguments) {
    const auto found = known.find(snapshot.nodes[i]);
    if (found != known.end()) {
      bindings_.push_back(found->second);
    } else if (snapshot.nodes[i]->value) {
      bindings_.push_back({Binding::Captured, 0, Ref<Node>(snapshot.nodes[i])});
    } else {
      fail(ErrorKind::Runtime,
           "function: a tensor of another trace was used; pass it as an argument");
    }
  }
  for (uint32_t i : snapshot.scalars) scalars_.emplace_back(snapshot.nodes[i]);
  std::unordered_map<const Node*, int32_t> place;
  for (size_t k = 0; k < snapshot.outputs.size(); ++k) {
    place[snapshot.nodes[snapshot.outputs[k]]] = static_cast<int32_t>(k);
  }
  for (const Ref<Node>& output : outputs_) {
    const auto found = place.find(output.get());
    places_.push_back(found == place.end() ? Output{-1, as_value(output)}
                                           : Output{found->second, nullptr});
  }
}

void Trace::check_arguments(std::span<const Ref<Node>> arguments) const {
  if (arguments.size() != arguments_.size()) {
    fail(ErrorKind::Type, "function: expected ", static_cast<int64_t>(arguments_.size()),
         " tensors, got ", static_cast<int64_t>(arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Node* expected = arguments_[i].get();
    if (arguments[i]->dtype == expected->dtype && arguments[i]->shape == expected->shape) continue;
    fail(ErrorKind::Value, "function: argument ", static_cast<int64_t>(i), " was traced as ",
         expected->dtype, " ", expected->shape, ", got ", arguments[i]->dtype, " ",
         arguments[i]->shape);
  }
}

void Trace::bind(std::span<const Ref<Node>> arguments, PlanRun* run) const {
  const auto source = [&](const Binding& binding) {
    return binding.kind == Binding::Argument   ? arguments[binding.index]
           : binding.kind == Binding::Variable ? states_[binding.index].variable->current
                                               : binding.captured;
  };
  // While evaluate() has given the lock away, another thread may assign an update to a variable
  // whose value was there before: look until all are there at once.
  for (bool ready = false; !ready;) {
    ready = true;
    for (const Binding& binding : bindings_) {
      const Ref<Node> node = source(binding);
      if (node->has_value()) continue;
      evaluate(node.get());
      ready = false;
    }
  }
  for (const Binding& binding : bindings_) {
    const Ref<Node> node = as_value(source(binding));
    // The variable's, this handle's, and nobody else's: gone when the variable is assigned.
    const bool dying = binding.kind == Binding::Variable && node->refs == 2 &&
                       states_[binding.index].current != states_[binding.index].initial;
    run->add_argument(node.get(), dying);
  }
}

std::vector<Ref<Node>> Trace::replay(std::span<const Ref<Node>> arguments) {
  check_arguments(arguments);
  std::vector<Node*> inputs;
  for (const Ref<Node>& argument : arguments) inputs.push_back(argument.get());
  for (const State& state : states_) inputs.push_back(state.variable->current.get());
  for (const Binding& binding : bindings_) {
    if (binding.captured) inputs.push_back(binding.captured.get());
  }
  evaluate(inputs);
  PlanRun run;
  bind(arguments, &run);
  for (const Ref<Node>& scalar : scalars_) run.add_scalar(fresh(scalar.get()));
  if (plan_) run.run(*plan_);
  std::vector<Ref<Node>> results;
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const Node* node = outputs_[k].get();
    results.push_back(places_[k].known
                          ? places_[k].known
                          : make_value(node->dtype, node->shape, run.result(places_[k].place)));
  }
  for (size_t k = 0; k < assigned_.size(); ++k) {
    pullback::assign(states_[assigned_[k]].variable.get(), results[returned_ + k], "assign");
  }
  results.resize(returned_);
  return results;
}

std::vector<Ref<Node>> Trace::inline_call(std::span<const Ref<Node>> arguments) {
  check_arguments(arguments);
  std::vector<Node*> roots;
  for (const Ref<Node>& output : outputs_) roots.push_back(output.get());
  std::vector<Node*> nodes;
  const auto copied = [](const Node* node) { return (node->flags & kTraced) != 0; };
  walk(std::span<Node* const>(roots), &nodes,
       [&](const Node* node) { return copied(node) ? node->inputs() : std::span<Node* const>(); });
  std::unordered_map<const Node*, Ref<Node>> copies;
  for (size_t i = 0; i < arguments_.size(); ++i) copies[arguments_[i].get()] = arguments[i];
  for (const State& state : states_) {
    if (state.initial) {
      copies[state.initial.get()] = pullback::read(state.variable.get());
    }
  }
  std::unordered_map<int64_t, int64_t> calls;
  for (Node* node : nodes) {
    if (!copied(node) || copies.contains(node)) continue;
    if (node->op == Op::scalar) {
      const uint8_t flags = active() ? node->flags : node->flags & ~kTraced;
      copies[node] = make_scalar(node->dtype, fresh(node), flags);
      continue;
    }
    std::vector<Ref<Node>> held;
    std::vector<Node*> inputs;
    for (Node* input : node->inputs()) {
      const auto found = copies.find(input);
      held.push_back(found == copies.end() ? Ref<Node>(input) : found->second);
      inputs.push_back(held.back().get());
    }
    Ref<Node> copy = make_node(node->op, node->dtype, node->shape, inputs, node->attr);
    copy->rule = node->rule;
    if (node->op == Op::custom && node->scalar.i) {
      // A call of a custom_gradient inside is a new call in every copy.
      auto [it, added] = calls.try_emplace(node->scalar.i, 0);
      if (added) it->second = -static_cast<int64_t>(copy->seq);
      copy->scalar.i = it->second;
    }
    if (node->op == Op::read) {
      copy->flags |= kTracked;
      copy->variable = node->variable;
    }
    if (node->window) copy->window = std::make_unique<Window>(*node->window);
    copies[node] = std::move(copy);
  }
  std::vector<Ref<Node>> results;
  for (const Ref<Node>& output : outputs_) {
    const auto found = copies.find(output.get());
    results.push_back(found == copies.end() ? output : found->second);
  }
  for (size_t k = 0; k < assigned_.size(); ++k) {
    pullback::assign(states_[assigned_[k]].variable.get(), results[returned_ + k], "assign");
  }
  results.resize(returned_);
  return results;
}

bool Trace::reads_trainable() const {
  for (const State& state : states_) {
    if (state.initial && state.variable->trainable) return true;
  }
  return false;
}

std::string Trace::describe() const { return plan_ ? dump(plan_->plan) : "nothing to compute\n"; }

}  // namespace pullback
