// Runs calls of a traced function: binds the inputs, runs the plan, assigns variables, and marks
// the results that get a history. Start at Trace::run_once.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>

#include "base/error.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "ops/ops.h"
#include "trace/trace_call.h"

namespace pullback {

namespace {

// Stack memory for the temporary lists of a call of ordinary size.
struct Scratch {
  std::array<std::byte, 2048> bytes;
  std::pmr::monotonic_buffer_resource memory{bytes.data(), bytes.size()};

  template <class T>
  std::pmr::vector<T> list(size_t room) {
    std::pmr::vector<T> out(&memory);
    out.reserve(room);
    return out;
  }
};

// True if all have values. Otherwise evaluates them; then other threads may have assigned variables
// or taken memory that was collected.
bool all_ready(std::span<const NodeRef> inputs) {
  std::vector<Node*> pending;
  for (const NodeRef& input : inputs) {
    if (input && !input->has_value()) pending.push_back(input.get());
  }
  if (pending.empty()) return true;
  evaluate(pending);
  return false;
}

}  // namespace

void Trace::check_arguments(std::span<const NodeRef> arguments) const {
  if (arguments.size() != arguments_.size()) {
    fail(ErrorKind::Type, "function: expected ", static_cast<int64_t>(arguments_.size()),
         " tensors, got ", static_cast<int64_t>(arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Node* expected = arguments_[i].get();
    const Device device = arguments[i]->device();
    if (several_devices && plan_ && device != kAnyDevice && device != plan_->device) {
      fail(ErrorKind::Value, "function: expected tensors on one device, got argument ",
           static_cast<int64_t>(i), " on ", name_of(device), ", and the function runs on ",
           name_of(plan_->device));
    }
    if (arguments[i]->dtype == expected->dtype && arguments[i]->shape == expected->shape) continue;
    fail(ErrorKind::Value, "function: expected ", expected->dtype, " ", expected->shape,
         " for argument ", static_cast<int64_t>(i), ", as traced, got ", arguments[i]->dtype, " ",
         arguments[i]->shape);
  }
}

void Trace::replay(std::span<const NodeRef> arguments, std::span<NodeRef> results) {
  run(arguments, results, {});
}

void Trace::call(std::span<const NodeRef> arguments, std::span<NodeRef> results, bool build) {
  std::array<HistoryDecision, 16> few;
  std::vector<HistoryDecision> many(returned_ > few.size() ? returned_ : 0);
  const std::span<HistoryDecision> decisions(many.empty() ? few.data() : many.data(), returned_);
  if (!decide_histories(arguments, decisions)) {
    run(arguments, results, {});
  } else if (build) {
    inline_call(arguments, results);
  } else {
    run(arguments, results, decisions);
  }
}

// True if an argument of the plan is a variable's value that this call replaces, and only the
// variable and the list of inputs (if the function reads it) refer to it.
bool Trace::can_donate(const Binding& binding, const Node* node,
                       std::span<const uint8_t> kept) const {
  if (binding.captured || binding.input < arguments_.size()) return false;
  if (!kept.empty() && kept[binding.input]) return false;
  const State& state = states_[binding.input - arguments_.size()];
  if (state.current == state.initial || !node->value) return false;
  // The variable's cached read node shares the memory; drop it if it has no other reference.
  NodeRef& reading = state.variable->reading;
  if (reading && reading->refs == 1) reading = nullptr;
  // An array that was exported and freed again must not force every training step to allocate.
  // (Elsewhere the mark stays, since runs in place are not interrupted.)
  if (node->value->refs == 1 && !node->value->is_foreign()) node->value->exported = false;
  return node->refs == 1 + (state.initial ? 1 : 0);
}

// A null input is a value that the function does not read but whose memory it may use.
const NodeRef& Trace::bound(const Binding& binding, std::span<const NodeRef> inputs) const {
  if (binding.captured) return binding.captured;
  const NodeRef& input = inputs[binding.input];
  return input ? input : states_[binding.input - arguments_.size()].variable->current;
}

// `decisions`: one per result; results with a kept history refer to the call.
void Trace::run(std::span<const NodeRef> arguments, std::span<NodeRef> results,
                std::span<const HistoryDecision> decisions) {
  check_arguments(arguments);
  while (!run_once(arguments, results, decisions)) {
  }
}

// Returns false if another thread has assigned a variable meanwhile that this call has read and
// will assign: overwriting would lose that update. After an update in place there is no second try,
// so the other assignment stays and counts as later than the call. That order is valid: the
// replaced value was updated in place, so a thread that wanted to read it had to wait.
bool Trace::run_once(std::span<const NodeRef> arguments, std::span<NodeRef> results,
                     std::span<const HistoryDecision> decisions) {
  const bool keeps =
      std::find(decisions.begin(), decisions.end(), HistoryDecision::Kept) != decisions.end();
  const std::vector<uint8_t> kept = keeps ? find_needed_inputs(decisions) : std::vector<uint8_t>();
  Scratch scratch;
  auto inputs = scratch.list<NodeRef>(graph_->inputs.size());
  do {
    inputs.assign(arguments.begin(), arguments.end());
    for (const State& state : states_) {
      inputs.push_back(!state.initial                 ? nullptr
                       : keeps && kept[inputs.size()] ? pullback::read(state.variable.get())
                                                      : state.variable->current);
    }
  } while (!all_ready(inputs));
  auto seen = scratch.list<uint64_t>(assigned_.size());
  for (size_t i : assigned_) seen.push_back(states_[i].variable->current->seq);
  for (size_t i = inputs.size(); i < graph_->inputs.size(); ++i)
    inputs.push_back(draw_like(graph_->inputs[i].get()));
  const Ref<Call> call = keeps ? remember_call(inputs, kept) : nullptr;
  PlanRun plan_run;
  for (const Binding& binding : bindings_) {
    const NodeRef& node = bound(binding, inputs);
    const bool donatable = can_donate(binding, node.get(), kept);  // first: references of the node
                                                                   // are counted
    plan_run.add_argument(as_value(node).get(), donatable);
  }
  for (const PlanScalar& scalar : scalars_) {
    plan_run.add_scalar(scalar.draw ? inputs[*scalar.draw]->scalar : scalar.value);
  }
  if (plan_) plan_run.run(*plan_);
  const auto assigned_meanwhile = [&](size_t k) {
    const State& state = states_[assigned_[k]];
    return state.initial && state.variable->current->seq != seen[k];
  };
  const auto replaced = plan_run.replaced();
  const Variable* lost = nullptr;
  auto stays = scratch.list<uint8_t>(assigned_.size());
  for (size_t k = 0; k < assigned_.size(); ++k) {
    stays.push_back(assigned_meanwhile(k));
    if (!stays[k]) continue;
    if (replaced.empty()) return false;
    if (std::ranges::find(replaced, seen[k]) == replaced.end()) {
      lost = states_[assigned_[k]].variable.get();
    }
  }
  const auto result = [&](size_t k) -> NodeRef {
    const Output& place = places_[k];
    if (place.kind == Output::Known) return place.known;
    const Node* node = record_.roots()[k].get();
    NodeRef made = make_value(node->dtype, node->shape, plan_run.result(place.index));
    made->device_id = made->value->device.id;
    return made;
  };
  for (size_t k = 0; k < returned_; ++k) results[k] = result(k);
  if (!decisions.empty()) mark_results(results, decisions, call.get());
  for (size_t k = 0; k < assigned_.size(); ++k) {
    if (stays[k]) continue;
    pullback::assign(states_[assigned_[k]].variable.get(), result(returned_ + k), "assign");
  }
  if (lost) {
    fail(
        ErrorKind::Runtime, "function: variable \"", lost->name,
        "\" was assigned by another thread or by a signal handler while a call was updating it "
        "and others; only the update of this variable by the call is lost; assign it under a lock");
  }
  return true;
}

// Finishes pending updates of the variables to assign, so that all assignments happen together or
// none does.
void Trace::finish_updates() {
  const auto pending = [&](size_t i) { return states_[i].variable->pending(); };
  while (std::any_of(assigned_.begin(), assigned_.end(), pending)) {
    for (size_t i : assigned_) finish_update(states_[i].variable.get());
  }
}

void Trace::inline_call(std::span<const NodeRef> arguments, std::span<NodeRef> results) {
  check_arguments(arguments);
  finish_updates();
  std::vector<NodeRef> inputs(arguments.begin(), arguments.end());
  for (const State& state : states_) {
    inputs.push_back(state.initial ? pullback::read(state.variable.get()) : nullptr);
  }
  for (size_t i = inputs.size(); i < graph_->inputs.size(); ++i)
    inputs.push_back(draw_like(graph_->inputs[i].get()));
  const std::vector<NodeRef> outputs = rebuild_outputs(std::move(inputs), nullptr);
  for (size_t k = 0; k < returned_; ++k) results[k] = outputs[k];
  for (size_t k = 0; k < assigned_.size(); ++k) {
    pullback::assign(states_[assigned_[k]].variable.get(), outputs[returned_ + k], "assign");
  }
}

}  // namespace pullback
