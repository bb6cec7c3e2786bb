// The walk and the scan. Rules are looked up in this order: overrides of the call, the rule stamped
// on the node, the registry, the operation's own row.

#include "grad/connectivity.h"

#include <algorithm>

#include "base/error.h"
#include "grad/registry.h"
#include "grad/tape.h"
#include "graph/variable.h"
#include "graph/walk.h"
#include "ops/ops.h"

namespace pullback {
namespace {

// The cotangent of an output goes to its operation.
std::span<Node* const> rule_side(const Node* result) {
  const auto all = result->inputs();
  return all.empty() ? all : all.last(1);
}

// The history of a traced call's result that was not built yet, or null.
History* deferred_history(const Node* node) {
  return node->origin ? node->origin->history() : nullptr;
}

// Raises an error if an override comes too late: the operation has kept no history.
[[noreturn]] void refuse_late_override(const char* name) {
  fail(ErrorKind::Value, "gradients: overrides: the history before ", name,
       " was not kept; override it at its call, with gradient_override_map");
}

void refuse_late_overrides(const GradientRequest& request) {
  const auto traced = [](const NodeRef& y) { return (y->flags & kTraced) != 0; };
  if (!request.overrides || std::any_of(request.ys.begin(), request.ys.end(), traced)) return;
  for (int i = 0; i < kOps; ++i) {
    const Op op = static_cast<Op>(i);
    const bool kept = !ends_gradients(op) || op == Op::stop_gradient;  // until it is computed
    if (!kept && request.overrides->contains(name_of(op))) refuse_late_override(name_of(op));
  }
}

}  // namespace

Connectivity::Connectivity(const GradientRequest& request)
    : request_(request), xs_(request.xs), first_new_(next_seq()) {
  refuse_late_overrides(request);
  collect();
  refuse_lost_histories(0);
  connect(0);
}

void Uses::add(const std::vector<Node*>& nodes) {
  nodes_ = nodes;
  for (Node* node : nodes_) add_user(node);
}

Uses::~Uses() {
  for (Node* node : nodes_) {
    --node->users;
    release(node);
  }
}

Connectivity::BackwardEdges Connectivity::backward_edges(const Node* node) const {
  if (node->op == Op::result || node->op == Op::output) return {nullptr, rule_side(node)};
  const Node* call = node->op == Op::custom ? operation_of(node) : nullptr;
  if (call && backward_edges(call).rule) return {nullptr, rule_side(node)};
  if (call) return {nullptr, node->inputs().first(1)};
  Ref<Rule> rule;
  const bool own = node->rule && node->rule->of_library;
  if (request_.overrides && !node->in_composite) {
    const auto found = request_.overrides->find(display_name(node));
    if (found != request_.overrides->end()) {
      rule = found->second;
      if (node->op == Op::stop_gradient) {
        const auto kept = stops_.find(node);
        if (kept != stops_.end()) return {rule, {&kept->second, 1}};
        if (node->inputs_count == 0) refuse_late_override(name_of(node->op));
      }
    }
  }
  if (!rule && !own) rule = node->rule;
  if (!rule && registry_used() && !node->in_composite && !is_leaf(node->op) &&
      node->op != Op::read) {
    rule = registered_rule(display_name(node));
  }
  if (!rule && own) rule = node->rule;
  const auto all = node->inputs();
  if (is_operation(node->op)) return {rule, all};
  if (node->op == Op::custom) {
    return {rule, all.empty() ? all : rule ? all.subspan(1) : all.first(1)};
  }
  if (rule) return {rule, all};
  const bool differentiable =
      vjp_of(node->op) && (is_inexact(node->dtype) || traits(node->op).ring);
  return {nullptr, differentiable ? all : all.first(0)};
}

bool Connectivity::differentiable(const Node* node) const {
  // An operation with several outputs has no dtype of its own; each output has one.
  return is_operation(node->op) || is_inexact(node->dtype) ||
         (request_.integers && is_integer(node->dtype));
}

void Connectivity::collect() {
  // Nodes older than the oldest x cannot depend on an x. Variables may be read at any time.
  oldest_ = xs_.empty() ? Tape::kNever : Tape::kNever - 1;
  for (const Source& x : xs_) oldest_ = std::min(oldest_, oldest_of(x));
  if (request_.tape) oldest_ = 0;
  for (const Source& stop : request_.stop) {
    if (stop.node) stopped_nodes_.insert(stop.node.get());
    if (stop.variable) stopped_variables_.insert(stop.variable);
  }
  if (History::live) build_histories(pointers(request_.ys));
  share_results();
  walk(pointers(request_.ys), &nodes_, [&](const Node* node) {
    return ends(node) ? std::span<Node* const>() : backward_edges(node).inputs;
  });
  // A rule may evaluate nodes, which can drop their inputs and free them.
  used_.add(nodes_);
  if (!request_.overrides) return;
  for (const Node* node : nodes_) {
    const auto inputs = node->inputs();
    if (node->op == Op::stop_gradient && !inputs.empty()) stops_.emplace(node, inputs[0]);
  }
}

bool Connectivity::ends(const Node* node) const {
  return node->seq <= oldest_ || !node->tracked() || stopped(node) ||
         (request_.tape && !request_.tape->recorded(node));
}

// Another result of the same call may be older than x.
uint64_t Connectivity::oldest_of(const Source& x) const {
  if (x.variable || !x.node) return 0;
  uint64_t oldest = x.node->seq;
  if (const Node* inside = inside_of_result(x.node.get())) oldest = inside->seq;
  if (const History* history = deferred_history(x.node.get())) {
    oldest = std::min(oldest, history->first_seq);
  }
  return oldest;
}

// Results of one call share the nodes inside of the call, so that other results depend on x if it
// is a result. A result that is an argument of the call is replaced by that argument, as without a
// trace.
void Connectivity::share_results() {
  if (request_.tape) return;  // the tape watches the results themselves
  const auto shared = [](const NodeRef& node) -> NodeRef {
    if (!node) return nullptr;
    History* history = deferred_history(node.get());
    if (history && (history->is_built() || history->passes_on(node.get()))) {
      history->build(node.get());
    }
    return NodeRef(inside_of_result(node.get()));
  };
  for (Source& x : xs_) {
    if (const NodeRef inside = shared(x.node)) x.node = inside;
  }
  for (const Source& stop : request_.stop) {
    if (const NodeRef inside = shared(stop.node)) {
      stopped_nodes_.erase(stop.node.get());
      stopped_nodes_.insert(inside.get());
    }
  }
}

// Builds the histories that the walk found. Not during the walk: making nodes may start another
// walk, which would overwrite the marks.
void Connectivity::build_histories(std::span<Node* const> roots) const {
  std::vector<Node*> pending(roots.begin(), roots.end());
  const uint32_t epoch = new_epoch();
  while (!pending.empty()) {
    Node* node = pending.back();
    pending.pop_back();
    if (node->mark == epoch || ends(node)) continue;
    node->mark = epoch;
    const auto is_it = [node](const Source& x) { return x.node.get() == node; };
    History* history = deferred_history(node);
    if (history && std::ranges::none_of(xs_, is_it)) history->build(node);
    for (Node* input : backward_edges(node).inputs) pending.push_back(input);
  }
}

// Raises an error if a call replaced the value of a variable without keeping it: no gradient passes
// through the results of that call, and None would be wrong.
void Connectivity::refuse_lost_histories(size_t begin) const {
  const auto lost = [](const Source& x) {
    return history_lost(x.variable ? x.variable : x.node->variable);
  };
  if (std::none_of(xs_.begin(), xs_.end(), lost)) return;
  for (const Node* node : std::span(nodes_).subspan(begin)) {
    if (!(node->flags & kHistoryLost) || node->flags & kTracked || stopped(node)) continue;
    if (node->seq <= oldest_) continue;  // older than every x
    if (request_.tape && !request_.tape->recorded(node)) continue;
    const std::string call =
        node->origin && !node->origin->name.empty() ? node->origin->name : "a function";
    fail(ErrorKind::Runtime, "gradients: a tensor of shape ", node->shape, " is a result of ", call,
         ", which assigned variables without keeping their previous values, so it has no gradient "
         "by them; compute the gradient inside the function, call it under a GradientTape, or "
         "apply stop_gradient to the result if it is a constant");
  }
}

// Node::index is correct until another walk renumbers the node (a rule may evaluate). Then a table
// is built and used.
size_t Connectivity::find(const Node* node) {
  fill_table();
  const auto found = position_.find(node);
  return found == position_.end() ? kAbsent : found->second;
}

void Connectivity::fill_table() {
  if (!position_.empty()) return;
  for (size_t i = 0; i < nodes_.size(); ++i) position_[nodes_[i]] = i;
}

// Indexes the nodes as common subexpressions, so that extend() gives a new node the number of an
// existing one that computes the same. An x and a node of `stop_gradients=` are left out: a node
// that computes the same is not that x, and a gradient passes it.
void Connectivity::start_expressions() {
  fill_table();
  expressions_ = std::make_unique<CommonSubexpressions>();
  for (Node* node : nodes_) held_.emplace_back(node);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (is_x_[i] || stopped(nodes_[i])) continue;
    expressions_->find_or_add(nodes_[i], i, [&](const Node* input) { return find(input); });
  }
}

size_t Connectivity::extend(Node* root) {
  if (!expressions_) start_expressions();
  const size_t begin = nodes_.size();
  const auto known = [&](const Node* node) { return position_.contains(node); };
  if (History::live && !known(root)) build_histories({&root, 1});
  std::vector<Node*> found;
  // All inputs of new nodes, because common subexpressions are found by their inputs.
  walk({&root, 1}, &found, [&](const Node* node) {
    if (known(node)) return std::span<Node* const>();
    if (node->seq >= first_new_) return node->inputs();
    return ends(node) ? std::span<Node* const>() : backward_edges(node).inputs;
  });
  for (Node* node : found) {
    if (known(node)) continue;
    size_t number = nodes_.size();
    if (node->seq >= first_new_ && !stopped(node)) {
      number =
          expressions_->find_or_add(node, number, [&](const Node* input) { return find(input); });
    }
    if (number == nodes_.size()) nodes_.push_back(node);
    position_[node] = number;
    held_.emplace_back(node);
  }
  refuse_lost_histories(begin);
  connect(begin);
  return find(root);
}

size_t Connectivity::add_leaf(const NodeRef& node) {
  if (!expressions_) start_expressions();
  const size_t number = nodes_.size();
  nodes_.push_back(node.get());
  held_.push_back(node);
  position_[node.get()] = number;
  live_.push_back(1);
  watched_.push_back(1);
  is_x_.push_back(0);
  zeros_.push_back(Zeros::Drop);
  return number;
}

bool Connectivity::stopped(const Node* node) const {
  return stopped_nodes_.contains(node) ||
         (node->variable && stopped_variables_.contains(node->variable));
}

void Connectivity::connect(size_t begin) {
  const size_t n = nodes_.size();
  live_.resize(n, 0);
  watched_.resize(n, request_.tape == nullptr);
  std::unordered_set<uint64_t> variables;
  std::unordered_set<const Node*> tensors;
  for (const Source& x : xs_) {
    if (x.variable) variables.insert(x.variable);
    if (x.node) tensors.insert(x.node.get());
  }
  is_x_.resize(n, 0);
  zeros_.resize(n, Zeros::Drop);
  for (size_t i = begin; i < n; ++i) {
    const Node* node = nodes_[i];
    bool live = false;
    if (node->tracked() && !stopped(node) && differentiable(node) &&
        (!request_.tape || request_.tape->recorded(node))) {
      const BackwardEdges edges = backward_edges(node);
      Zeros below = Zeros::Drop;
      for (const Node* input : edges.inputs) {
        if (!feeds(input, node)) continue;
        const size_t at = position(input);
        if (live_[at]) below = std::max(below, zeros_[at]);
        live |= live_[at] != 0;
        watched_[i] = 1;
      }
      if (live && !edges.rule) zeros_[i] = zeros_of(node, below);
      if (live && is_own(edges, node)) zeros_[i] = zeros_of_composite(below);
    }
    if (request_.tape && request_.tape->watched_since(node) != Tape::kNever) watched_[i] = 1;
    is_x_[i] = tensors.contains(node) || (node->variable && variables.contains(node->variable));
    live_[i] = live || (is_x_[i] && watched_[i]);
  }
}

bool Connectivity::feeds(const Node* input, const Node* node) {
  if (!differentiable(input)) return false;
  const size_t at = position(input);
  if (at == kAbsent) return false;  // the walk ended above it: older than every x, or stopped
  if (!request_.tape) return true;
  if (!watched_[at]) return false;
  const uint64_t since = request_.tape->watched_since(input);
  return since == Tape::kNever || node->seq >= since || request_.tape->recorded(input);
}

}  // namespace pullback
