// Calls of a traced function.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>

#include "base/error.h"
#include "graph/make.h"
#include "ops/ops.h"
#include "plan/evaluate.h"
#include "plan/trace.h"

namespace pullback {

// What one call saw, so that its history can be built when somebody asks for a gradient. Its nodes
// get numbers that were set aside at the call: to tapes and to the order of the graph it is as if
// they had been made then.
class Trace::Call : public History {
 public:
  explicit Call(std::shared_ptr<Trace> trace) : trace(std::move(trace)) {}

  void build(Node* result) override {
    if (built.empty()) {
      built = trace->instance(inputs, this);
      inputs.clear();
    }
    give_history(result, built[static_cast<size_t>(result->scalar.i)].get());
  }

  std::shared_ptr<Trace> trace;
  uint64_t first_seq = 0;
  uint16_t thread = thread_number();
  std::vector<Ref<Node>> inputs;  // arguments, then what was read of the states
  std::vector<Scalar> draws;
  std::vector<Ref<Node>> built;  // the outputs
};

namespace {

// Room on the stack for what a call of ordinary size needs besides its results.
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

// Whether all have their values. If not they get them, and by then another thread may have assigned
// or borrowed what was collected.
bool all_ready(std::span<const Ref<Node>> inputs) {
  std::vector<Node*> pending;
  for (const Ref<Node>& input : inputs) {
    if (input && !input->has_value()) pending.push_back(input.get());
  }
  if (pending.empty()) return true;
  evaluate(pending);
  return false;
}

}  // namespace

Scalar Trace::drawn(Draw draw) {
  Scalar next;
  next.i = draw == Draw::Seed ? random_seed() : next_random_counter();
  return next;
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

bool Trace::captures_tracked() const {
  return std::any_of(outside_.begin(), outside_.end(),
                     [](const Node* node) { return node->tracked(); });
}

void Trace::replay(std::span<const Ref<Node>> arguments, std::span<Ref<Node>> results) {
  run(arguments, results, nullptr);
}

void Trace::replay_tracked(std::span<const Ref<Node>> arguments, std::span<Ref<Node>> results) {
  const Ref<Call> call(new Call(shared_from_this()));
  run(arguments, results, call.get());
}

// Whether an argument of the plan is a variable's value that this call replaces and nobody else
// holds: the variable does, and the list of inputs.
bool Trace::dies(const Binding& binding, const Node* node, const Call* call) const {
  if (call || binding.captured || binding.input < arguments_.size()) return false;
  const State& state = states_[binding.input - arguments_.size()];
  if (state.current == state.initial) return false;
  // What the variable keeps for its next reader, if nobody holds it, shares the memory.
  Ref<Node>& reading = state.variable->reading;
  if (reading && reading->refs == 1) reading = nullptr;
  return node->refs == 2;
}

void Trace::run(std::span<const Ref<Node>> arguments, std::span<Ref<Node>> results, Call* call) {
  check_arguments(arguments);
  Scratch scratch;
  auto inputs = scratch.list<Ref<Node>>(arguments.size() + states_.size());
  do {
    inputs.assign(arguments.begin(), arguments.end());
    for (const State& state : states_) {
      inputs.push_back(!state.initial ? nullptr
                       : call         ? pullback::read(state.variable.get())
                                      : state.variable->current);
    }
  } while (!all_ready(inputs));
  // After the inputs, which must be older than what is made from them.
  if (call) call->first_seq = reserve_seqs(recorded_.size());
  PlanRun plan_run;
  for (const Binding& binding : bindings_) {
    const Ref<Node>& node = binding.captured ? binding.captured : inputs[binding.input];
    const bool dying = dies(binding, node.get(), call);  // first: it counts who holds the node
    plan_run.add_argument(as_value(node).get(), dying);
  }
  auto draws = scratch.list<Scalar>(draws_.size());
  for (Draw draw : draws_) draws.push_back(drawn(draw));
  for (const PlanScalar& scalar : scalars_) {
    plan_run.add_scalar(scalar.draw < 0 ? scalar.value : draws[scalar.draw]);
  }
  if (plan_) plan_run.run(*plan_);
  const auto result = [&](size_t k) -> Ref<Node> {
    const Output& place = places_[k];
    if (place.kind == Output::Known) return place.known;
    const Node* node = outputs_[k].get();
    return make_value(node->dtype, node->shape, plan_run.result(place.index));
  };
  for (size_t k = 0; k < returned_; ++k) results[k] = result(k);
  if (call) {
    call->draws.assign(draws.begin(), draws.end());
    defer_histories(results, inputs, call);
    call->inputs.assign(inputs.begin(), inputs.end());
  }
  for (size_t k = 0; k < assigned_.size(); ++k) {
    pullback::assign(states_[assigned_[k]].variable.get(), result(returned_ + k), "assign");
  }
}

// Marks the results that depend on something tracked.
void Trace::defer_histories(std::span<Ref<Node>> results, std::span<const Ref<Node>> inputs,
                            Call* call) {
  if (results.empty()) return;
  const std::vector<uint64_t>& reached = reach();
  const size_t words = reached.size() / results.size();
  for (size_t k = 0; k < results.size(); ++k) {
    if (output_at_[k] < 0) continue;
    const uint64_t* mask = reached.data() + k * words;
    bool tracked = mask[0] & 1;
    for (size_t i = 0; i < inputs.size() && !tracked; ++i) {
      tracked = mask[(i + 1) / 64] >> ((i + 1) % 64) & 1 && inputs[i]->tracked();
    }
    if (tracked) defer_history(results[k].get(), call, static_cast<int64_t>(k));
  }
}

// Per returned output a mask of the inputs that make it tracked; bit 0: it is tracked in any case.
const std::vector<uint64_t>& Trace::reach() {
  if (!reach_.empty() || !returned_) return reach_;
  const size_t words = (arguments_.size() + states_.size()) / 64 + 1;
  std::vector<uint64_t> below(recorded_.size() * words, 0);
  for (size_t i = 0; i < recorded_.size(); ++i) {
    const Recorded& entry = recorded_[i];
    uint64_t* mask = below.data() + i * words;
    if (entry.node->op == Op::read) mask[0] |= 1;
    if (entry.input >= 0) {
      mask[(entry.input + 1) / 64] |= uint64_t{1} << ((entry.input + 1) % 64);
    }
    const auto inputs = entry.node->inputs();
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int32_t link = links_[entry.links + k];
      if (link < 0) {
        mask[0] |= inputs[k]->tracked();
        continue;
      }
      for (size_t w = 0; w < words; ++w) mask[w] |= below[link * words + w];
    }
  }
  reach_.resize(returned_ * words);
  for (size_t k = 0; k < returned_; ++k) {
    if (output_at_[k] < 0) continue;
    std::copy_n(below.data() + output_at_[k] * words, words, reach_.data() + k * words);
  }
  return reach_;
}

void Trace::inline_call(std::span<const Ref<Node>> arguments, std::span<Ref<Node>> results) {
  check_arguments(arguments);
  std::vector<Ref<Node>> inputs(arguments.begin(), arguments.end());
  for (const State& state : states_) {
    inputs.push_back(state.initial ? pullback::read(state.variable.get()) : nullptr);
  }
  const std::vector<Ref<Node>> outputs = instance(inputs, nullptr);
  for (size_t k = 0; k < returned_; ++k) results[k] = outputs[k];
  for (size_t k = 0; k < assigned_.size(); ++k) {
    pullback::assign(states_[assigned_[k]].variable.get(), outputs[returned_ + k], "assign");
  }
}

std::vector<Ref<Node>> Trace::instance(std::span<const Ref<Node>> inputs, const Call* call) const {
  std::vector<Ref<Node>> copies;
  copies.reserve(recorded_.size());
  std::unordered_map<int64_t, int64_t> calls;
  for (size_t i = 0; i < recorded_.size(); ++i) {
    const Recorded& entry = recorded_[i];
    if (entry.input >= 0) {
      copies.push_back(inputs[entry.input]);
      continue;
    }
    Ref<Node> copy = copy_of(entry, copies);
    if (entry.draw >= 0) copy->scalar = call ? call->draws[entry.draw] : drawn(draws_[entry.draw]);
    if (call) {
      copy->seq = call->first_seq + i;
      copy->thread = call->thread;
    }
    if (copy->op == Op::custom && entry.node->scalar.i) {
      // A call of a custom_gradient inside is a new call in every copy.
      auto [it, added] = calls.try_emplace(entry.node->scalar.i, 0);
      if (added) it->second = -static_cast<int64_t>(copy->seq);
      copy->scalar.i = it->second;
    }
    copies.push_back(std::move(copy));
  }
  std::vector<Ref<Node>> out;
  for (size_t k = 0; k < outputs_.size(); ++k) {
    out.push_back(output_at_[k] < 0 ? outputs_[k] : copies[output_at_[k]]);
  }
  return out;
}

Ref<Node> Trace::copy_of(const Recorded& recorded, std::span<const Ref<Node>> copies) const {
  const Node* node = recorded.node;
  if (node->op == Op::scalar) return make_scalar(node->dtype, node->scalar, node->flags & ~kTraced);
  const auto originals = node->inputs();
  Scratch scratch;
  auto inputs = scratch.list<Node*>(originals.size());
  for (size_t k = 0; k < originals.size(); ++k) {
    const int32_t link = links_[recorded.links + k];
    inputs.push_back(link < 0 ? originals[k] : copies[link].get());
  }
  Ref<Node> copy = make_node(node->op, node->dtype, node->shape, inputs, node->attr);
  copy->rule = node->rule;
  if (node->op == Op::read) {
    copy->flags |= kTracked;
    copy->variable = node->variable;
  }
  if (node->window) copy->window = std::make_unique<Window>(*node->window);
  return copy;
}

}  // namespace pullback
