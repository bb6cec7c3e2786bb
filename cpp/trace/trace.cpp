// Records a function, and fixes the plan and its bindings when the trace is closed. Calls are in
// trace_run.cpp.

#include "trace/trace.h"

#include "base/error.h"
#include "graph/graph_copy.h"
#include "graph/make.h"
#include "plan/passes/snapshot.h"
#include "trace/fold_constants.h"

namespace pullback {

Trace::Trace(std::string name)
    : origin_(new TraceOrigin), graph_(new ClosedGraph(ClosedGraph::Extent::Traced)) {
  origin_->name = std::move(name);
}

Trace::~Trace() {
  if (open_) abandon();
  origin_->open = false;
}

void Trace::open() {
  open_ = true;
  count_open_traces(1);
  outer_ = set_variable_scope(this);
  first_seq_ = next_seq();
}

void Trace::abandon() {
  open_ = false;
  origin_->open = false;
  count_open_traces(-1);
  set_variable_scope(outer_);
}

NodeRef Trace::add_argument(DType dtype, const Shape& shape, bool weak, Device device) {
  arguments_.push_back(make_argument(dtype, shape));
  arguments_.back()->device_id = device.id;
  arguments_.back()->origin = origin_.get();
  if (weak) arguments_.back()->flags |= kWeak;
  return arguments_.back();
}

Trace::State& Trace::state_of(Variable* variable) {
  const auto [it, fresh] = state_index_.try_emplace(variable, states_.size());
  if (fresh) states_.push_back({Ref<Variable>(variable), nullptr, nullptr});
  return states_[it->second];
}

NodeRef Trace::read(Variable* variable) {
  State& state = state_of(variable);
  if (!state.current) {
    state.initial = make_argument(variable->dtype, variable->shape);
    state.initial->origin = origin_.get();
    state.initial->variable = variable->id;
    state.initial->device_id = variable->device.id;
    state.current = state.initial;
  }
  return state.current;
}

void Trace::assign(Variable* variable, const NodeRef& value) {
  State& state = state_of(variable);
  // As for every read after an assignment: it has the variable's number, but no gradient passes to
  // the assigned value.
  NodeRef node = make_node(Op::read, value->dtype, value->shape, pointers({&value, 1}));
  node->flags |= kTracked | kTraced;
  node->variable = variable->id;
  state.current = std::move(node);
}

void Trace::close(std::vector<NodeRef> outputs) {
  abandon();
  graph_->made = {{first_seq_, next_seq()}};
  returned_ = outputs.size();
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].current == states_[i].initial) continue;
    assigned_.push_back(i);
    outputs.push_back(states_[i].current);
  }
  graph_->inputs = arguments_;
  for (const State& state : states_) graph_->inputs.push_back(state.initial);
  graph_->roots = std::move(outputs);

  record_ = Subgraph(graph_->roots, pointers(graph_->inputs), [](const Node*) { return true; });
  record();
  // The old value of a variable that is assigned and not read can donate its memory too.
  std::vector<NodeRef> unread;
  std::vector<Replacement> replacements;
  for (size_t k = 0; k < assigned_.size(); ++k) {
    const State& state = states_[assigned_[k]];
    NodeRef before = state.initial;
    if (!before) {
      before = unread.emplace_back(make_argument(state.variable->dtype, state.variable->shape));
      before->device_id = state.variable->device.id;
    }
    replacements.push_back({before.get(), record_.roots()[returned_ + k].get()});
  }
  const Snapshot snapshot = take_snapshot(pointers(record_.roots()), true, replacements);
  if (!snapshot.nodes.empty()) plan_ = find_plan(snapshot);
  bind_inputs(snapshot, replacements);
  bind_outputs(snapshot);
}

// Fixes the other data of the record.
void Trace::record() {
  std::unordered_map<const Node*, int64_t> uses_of;
  const auto use_outside = [&](Node* node, int64_t uses) {
    const auto [at, first] = uses_of.try_emplace(node, 0);
    at->second += uses;
    if (first) outside_.push_back(node);
  };
  for (size_t i = 0; i < record_.size(); ++i) {
    Node* node = record_[i].node;
    if (record_[i].input) continue;
    if (node->op == Op::argument) refuse_foreign_node(node, node->origin.get());
    if (is_draw(node)) record_.make_input(i, &graph_->inputs);
    graph_->holds_rules |= by_users_rule(node) || holds_rules(node);
    const auto inputs = node->inputs();
    for (const Node* input : inputs) {  // by the draw's inputs, since a draw itself has no shape
      const bool draw = is_draw(input) && input->flags & kTraced;
      if (draw && input->origin.get() != origin_.get())
        refuse_foreign_node(node, input->origin.get());
    }
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (record_.link(i, k) == Subgraph::kOutside) use_outside(inputs[k], 1);
    }
  }
  for (size_t k = 0; k < record_.roots().size(); ++k) {
    if (record_.root_at(k) == Subgraph::kOutside) use_outside(record_.roots()[k].get(), 0);
  }
  // A number without other references is never watched.
  std::erase_if(outside_, [&](const Node* node) {
    return node->op == Op::scalar && node->refs == uses_of.at(node);
  });
  sort_by_creation(outside_);
  fold_constants(outside_);
}

void Trace::refuse_foreign_node(const Node* node, const Origin* origin) const {
  const auto* other = dynamic_cast<const TraceOrigin*>(origin);
  const std::string where = other && !other->name.empty() ? " of " + other->name : std::string();
  fail(ErrorKind::Runtime, "function: ", origin_->name, ": a tensor of shape ", node->shape,
       " from another trace", where,
       " has no value here; return it from there and pass it as an argument");
}

void Trace::bind_inputs(const Snapshot& snapshot, std::span<const Replacement> replacements) {
  std::unordered_map<const Node*, size_t> numbers;
  for (size_t i = 0; i < graph_->inputs.size(); ++i) numbers[graph_->inputs[i].get()] = i;
  for (size_t k = 0; k < assigned_.size(); ++k) {
    numbers[replacements[k].old_value] = arguments_.size() + assigned_[k];
  }
  for (uint32_t i : snapshot.arguments) {
    Node* node = snapshot.nodes[i];
    const auto found = numbers.find(node);
    if (found != numbers.end()) {
      bindings_.push_back({found->second, nullptr});
    } else if (node->value) {
      bindings_.push_back({0, NodeRef(node)});
    } else {
      refuse_foreign_node(node, node->origin.get());
    }
  }
  for (uint32_t i : snapshot.scalars) {
    const auto found = numbers.find(snapshot.nodes[i]);
    scalars_.push_back({snapshot.nodes[i]->scalar});
    if (found != numbers.end()) scalars_.back().draw = static_cast<int32_t>(found->second);
  }
}

void Trace::bind_outputs(const Snapshot& snapshot) {
  std::unordered_map<const Node*, size_t> place;
  for (size_t k = 0; k < snapshot.outputs.size(); ++k) {
    place[snapshot.nodes[snapshot.outputs[k]]] = k;
  }
  for (const NodeRef& output : record_.roots()) {
    const auto found = place.find(output.get());
    if (found == place.end()) {
      places_.push_back({Output::Known, 0, as_value(output)});
      continue;
    }
    places_.push_back({Output::Planned, static_cast<size_t>(found->second), nullptr});
  }
}

}  // namespace pullback
