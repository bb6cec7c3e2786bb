// Recording a function, and what closing the record fixes. Running it is in trace_run.cpp.

#include "plan/trace.h"

#include "base/error.h"
#include "graph/make.h"
#include "graph/walk.h"
#include "ops/composite.h"
#include "plan/fold_constants.h"
#include "plan/snapshot.h"

namespace pullback {
namespace {

thread_local int open_traces = 0;

std::span<Node* const> traced_inputs(const Node* node) {
  return node->flags & kTraced ? node->inputs() : std::span<Node* const>();
}

}  // namespace

Trace::Trace(std::string name) : origin_(new TraceOrigin) { origin_->name = std::move(name); }

Trace::~Trace() {
  if (open_) abandon();
  origin_->open = false;
}

bool Trace::active() { return open_traces > 0; }

void Trace::open() {
  open_ = true;
  ++open_traces;
  outer_ = set_variable_scope(this);
}

void Trace::abandon() {
  open_ = false;
  origin_->open = false;
  --open_traces;
  set_variable_scope(outer_);
}

Ref<Node> Trace::add_argument(DType dtype, const Shape& shape, bool weak) {
  arguments_.push_back(make_argument(dtype, shape));
  arguments_.back()->rule = origin_.get();
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
    state.initial->rule = origin_.get();
    state.initial->variable = variable->id;
    state.current = state.initial;
    reads_trainable_ |= variable->trainable;
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

std::vector<Node*> Trace::roots() const {
  std::vector<Node*> out;
  for (const Ref<Node>& output : outputs_) out.push_back(output.get());
  return out;
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
  record();
  const Snapshot snapshot = take_snapshot(roots(), true);
  if (!snapshot.nodes.empty()) plan_ = find_plan(snapshot);
  bind_inputs(snapshot);
  bind_outputs(snapshot);
}

void Trace::record() {
  std::vector<Node*> reached;
  walk(roots(), &reached, traced_inputs);
  std::vector<int64_t> uses(reached.size(), 0);
  for (const Node* node : reached) {
    for (const Node* input : traced_inputs(node)) ++uses[input->index];
  }
  for (Node* node : reached) {
    // A number that nobody else holds is never watched.
    const bool ours = node->op == Op::scalar && node->refs == uses[node->index];
    if (!(node->flags & kTraced) && !ours) outside_.push_back(node);
  }
  fold_constants(outside_);
  std::unordered_map<const Node*, int32_t> inputs;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    inputs[arguments_[i].get()] = static_cast<int32_t>(i);
  }
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].initial) continue;
    inputs[states_[i].initial.get()] = static_cast<int32_t>(arguments_.size() + i);
  }
  std::unordered_map<const Node*, int32_t> positions;
  for (Node* node : reached) {
    if (!(node->flags & kTraced)) continue;
    Recorded entry{node, static_cast<uint32_t>(links_.size())};
    for (const Node* input : node->inputs()) {
      const auto found = positions.find(input);
      links_.push_back(found == positions.end() ? -1 : found->second);
    }
    if (node->op == Op::argument) {
      const auto found = inputs.find(node);
      if (found == inputs.end()) refuse_stranger(node);
      entry.input = found->second;
    } else if (node->op == Op::scalar && node->flags & kDraw) {
      entry.draw = static_cast<int32_t>(draws_.size());
      draws_.push_back(Draw::Counter);
    } else if (traits(node->op).kind == OpKind::Random) {
      draws_[recorded_[positions[node->in[0]]].draw] = Draw::Seed;
    }
    has_own_rules_ |= node->op == Op::custom && composite_of(node) == Composite::None;
    positions[node] = static_cast<int32_t>(recorded_.size());
    recorded_.push_back(entry);
  }
  for (const Ref<Node>& output : outputs_) {
    const auto found = positions.find(output.get());
    output_at_.push_back(found == positions.end() ? -1 : found->second);
  }
}

void Trace::refuse_stranger(const Node* node) const {
  const std::string where =
      node->rule && !node->rule->name.empty() ? " of " + node->rule->name : std::string();
  fail(ErrorKind::Runtime, "function: ", origin_->name, ": a tensor of shape ", node->shape,
       " from another trace", where,
       " was used; it has no value here: return it from there and pass it as an argument");
}

void Trace::bind_inputs(const Snapshot& snapshot) {
  std::unordered_map<const Node*, const Recorded*> recorded;
  for (const Recorded& entry : recorded_) {
    if (entry.input >= 0 || entry.draw >= 0) recorded[entry.node] = &entry;
  }
  for (uint32_t i : snapshot.arguments) {
    Node* node = snapshot.nodes[i];
    const auto found = recorded.find(node);
    if (found != recorded.end()) {
      bindings_.push_back({static_cast<size_t>(found->second->input), nullptr});
    } else if (node->value) {
      bindings_.push_back({0, Ref<Node>(node)});
    } else {
      refuse_stranger(node);
    }
  }
  for (uint32_t i : snapshot.scalars) {
    const auto found = recorded.find(snapshot.nodes[i]);
    scalars_.push_back(
        {snapshot.nodes[i]->scalar, found == recorded.end() ? -1 : found->second->draw});
  }
}

void Trace::bind_outputs(const Snapshot& snapshot) {
  std::unordered_map<const Node*, size_t> place;
  for (size_t k = 0; k < snapshot.outputs.size(); ++k) {
    place[snapshot.nodes[snapshot.outputs[k]]] = k;
  }
  for (const Ref<Node>& output : outputs_) {
    const auto found = place.find(output.get());
    if (found == place.end()) {
      places_.push_back({Output::Known, 0, as_value(output)});
      continue;
    }
    places_.push_back({Output::Planned, static_cast<size_t>(found->second), nullptr});
  }
}

}  // namespace pullback
