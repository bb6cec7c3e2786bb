// Histories of the results of traced functions: which of them a call keeps, and how the recorded
// nodes are rebuilt for it.

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/graph_copy.h"
#include "graph/recorder.h"
#include "ops/ops.h"
#include "trace/trace_call.h"

namespace pullback {
namespace {

bool holds(const std::vector<uint64_t>& set, size_t bit) { return set[bit / 64] >> (bit % 64) & 1; }
void put(std::vector<uint64_t>* set, size_t bit) { (*set)[bit / 64] |= uint64_t{1} << (bit % 64); }
void add_all(std::vector<uint64_t>* set, const std::vector<uint64_t>& more) {
  for (size_t w = 0; w < more.size(); ++w) (*set)[w] |= more[w];
}

// True if no derivative passes, for any request.
bool blocks(const Node* node) {
  if (node->rule) return false;
  switch (traits(node->op).tangent) {
    case Tangent::None:
      return true;
    case Tangent::TransposeOfVjp:
      return false;
    case Tangent::Self:
    case Tangent::Product:
    case Tangent::Own:
      return node->dtype == DType::Bool;
  }
  return true;
}

}  // namespace

namespace {

// The graph of a trace on the inputs of a call.
class CalledGraph : public GraphCopy {
 public:
  using GraphCopy::GraphCopy;
  NodeRef copy(const Node* node, std::span<Node* const> inputs) override {
    // A draw that only a rule uses is drawn anew for each application; the others are inputs.
    return is_draw(node) ? draw_like(node) : GraphCopy::copy(node, inputs);
  }
};

// Lets a tape that has ended since the call watch the nodes that are built now.
class Watching {
 public:
  explicit Watching(std::vector<NodeRef> tensors) : tensors_(std::move(tensors)) {
    for (const NodeRef& x : tensors_) ++x->watchers;
  }
  ~Watching() {
    for (const NodeRef& x : tensors_) --x->watchers;
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  std::vector<NodeRef> tensors_;
};

}  // namespace

void Trace::Call::build(Node* result) {
  if (built.empty()) {
    const Watching again(watched);
    built = trace->rebuild_outputs(inputs, this);
    inputs.clear();
    watched.clear();
    // Results of the call that still exist are not computed again.
    for (size_t k = 0; k < results.size(); ++k) {
      const Node* computed = results[k].get();
      if (computed && built[k] && !built[k]->has_value()) built[k]->value = computed->value;
    }
  }
  give_history(result, built[result->output].get());
}

bool Trace::Call::passes_on(const Node* result) const {
  const Subgraph& record = trace->record_;
  const int32_t at = record.root_at(result->output);
  return at == Subgraph::kOutside || record[static_cast<size_t>(at)].input;
}

// Rebuilds the outputs and the nodes below them on the inputs of a call. An output that depends on
// an input which was not kept is null.
std::vector<NodeRef> Trace::rebuild_outputs(std::vector<NodeRef> values, const Call* call) const {
  const Ref<GraphCopy> made(new CalledGraph(graph_, std::move(values)));
  return record_.rebuild(made->inputs(), [&](size_t i, Node* node, std::span<Node* const> on) {
    NodeRef copy = made->copy(node, on);
    if (call) {
      copy->seq = call->first_seq + i;
      copy->scope = call->scope;
      if (recording) {  // by its number
        record_node(copy.get(), on);
        record_as(copy->seq, node->seq);
      }
    }
    return copy;
  });
}

const std::vector<Trace::Dependence>& Trace::dependences() {
  if (!dependences_.empty() || !returned_) return dependences_;
  const size_t words = (arguments_.size() + states_.size()) / 64 + 1;
  std::vector<Dependence> below(record_.size());
  for (size_t i = 0; i < record_.size(); ++i) {
    const auto& [node, edges, input] = record_[i];
    Dependence& d = below[i];
    d.sources.assign(words, 0);
    d.values.assign(words, 0);
    if (input && *input < arguments_.size() + states_.size()) {
      put(&d.sources, *input + 1);
      put(&d.values, *input + 1);
    }
    if (input) continue;
    const auto inputs = node->inputs();
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int32_t at = record_.link(i, k);
      if (at == Subgraph::kOutside) {
        put(&d.sources, 0);
        continue;
      }
      add_all(&d.values, below[at].values);
      add_all(&d.sources, below[at].sources);
    }
    if (blocks(node) || node->op == Op::read) d.sources.assign(words, 0);
    // Differentiation ends at a read of the assigned variable.
    if (node->op == Op::read) put(&d.sources, arguments_.size() + assigned_state(node) + 1);
  }
  for (size_t k = 0; k < returned_; ++k) {
    const int32_t at = record_.root_at(k);
    dependences_.push_back(
        at == Subgraph::kOutside
            ? Dependence{std::vector<uint64_t>(words), std::vector<uint64_t>(words), {}}
            : below[at]);
    dependences_.back().decision = decide_history(dependences_.back());
  }
  return dependences_;
}

size_t Trace::assigned_state(const Node* read) const {
  const auto of = [&](const State& state) { return state.variable->id == read->variable; };
  return static_cast<size_t>(std::find_if(states_.begin(), states_.end(), of) - states_.begin());
}

// Decides about the history of a result if no argument is tracked. Keeping a value that an
// assignment replaces would cost the memory into which the new value is written. So a result that
// depends on a trainable variable which the function assigns (a training step) has no history;
// neither has a result that depends on non-trainable state only.
Trace::HistoryDecision Trace::decide_history(const Dependence& d) const {
  bool any = false;
  bool assigned = false;
  bool trained = false;  // trainable and assigned
  bool model = false;    // trainable and only read
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!holds(d.sources, arguments_.size() + i + 1)) continue;
    const bool replaced = states_[i].current != states_[i].initial;
    any = true;
    assigned |= replaced;
    trained |= replaced && states_[i].variable->trainable;
    model |= !replaced && states_[i].variable->trainable;
  }
  if (!any) return HistoryDecision::None;
  return !assigned || (model && !trained) ? HistoryDecision::Kept : HistoryDecision::Lost;
}

bool Trace::captures_tracked() const {
  return std::any_of(outside_.begin(), outside_.end(), [](const Node* node) {
    return node->tracked() || node->flags & kHistoryLost;
  });
}

// Decides about the histories of all results for these arguments; false: none is kept.
bool Trace::decide_histories(std::span<const NodeRef> arguments,
                             std::span<HistoryDecision> decisions) {
  const bool captures = captures_tracked();
  const auto source = [](const NodeRef& x) { return x->tracked() || x->flags & kHistoryLost; };
  if (states_.empty() && !captures && std::none_of(arguments.begin(), arguments.end(), source)) {
    return false;
  }
  const std::vector<Dependence>& of = dependences();
  HistoryDecision most = HistoryDecision::None;
  for (size_t k = 0; k < decisions.size(); ++k) {
    decisions[k] = captures && holds(of[k].sources, 0) ? HistoryDecision::Kept : of[k].decision;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!source(arguments[i]) || !holds(of[k].sources, i + 1)) continue;
      decisions[k] = std::max(
          decisions[k], arguments[i]->tracked() ? HistoryDecision::Kept : HistoryDecision::Lost);
    }
    most = std::max(most, decisions[k]);
  }
  return most != HistoryDecision::None;
}

// For each argument and state: true if a kept history depends on it.
std::vector<uint8_t> Trace::find_needed_inputs(std::span<const HistoryDecision> decisions) {
  const size_t count = arguments_.size() + states_.size();
  // The inputs that a rule will use are not known before it runs.
  std::vector<uint8_t> out(count, graph_->holds_rules);
  const std::vector<Dependence>& of = dependences();
  for (size_t k = 0; k < decisions.size() && !graph_->holds_rules; ++k) {
    if (decisions[k] != HistoryDecision::Kept) continue;
    for (size_t i = 0; i < count; ++i) out[i] |= holds(of[k].values, i + 1);
  }
  return out;
}

// The data of this call for its histories. `inputs` are all inputs of the record.
Ref<Trace::Call> Trace::remember_call(std::span<const NodeRef> inputs,
                                      std::span<const uint8_t> kept) const {
  const Ref<Call> call(new Call(shared_from_this()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    call->inputs.push_back(i >= kept.size() || kept[i] ? inputs[i] : nullptr);
  }
  const auto note_watched = [&](Node* x) {
    if (x->watchers && !(x->flags & kTracked)) call->watched.emplace_back(x);
  };
  for (const NodeRef& input : call->inputs) {
    if (input) note_watched(input.get());
  }
  for (Node* captured : outside_) note_watched(captured);
  call->results.resize(returned_);
  // After the inputs, which must be older than the nodes built from them.
  call->first_seq = reserve_seqs(record_.size());
  return call;
}

void Trace::mark_results(std::span<NodeRef> results, std::span<const HistoryDecision> decisions,
                         Call* call) {
  for (size_t k = 0; k < results.size(); ++k) {
    if (call && decisions[k] == HistoryDecision::Kept) {
      defer_history(results[k].get(), call, k);
      call->results[k] = NodeHandle(results[k].get());
    }
    if (decisions[k] != HistoryDecision::Lost || !is_inexact(results[k]->dtype)) continue;
    results[k]->flags |= kHistoryLost;
    results[k]->origin = origin_.get();
    for (size_t i = 0; i < states_.size(); ++i) {
      const bool depends = holds(dependences()[k].sources, arguments_.size() + i + 1);
      if (depends) lose_history(states_[i].variable.get());
    }
  }
}

}  // namespace pullback
