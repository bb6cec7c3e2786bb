// The reverse pass in four parts:
//
//   collect       one walk below ys, bounded by stops, tapes and the oldest x
//   connect       a forward scan: which nodes depend on an x (the only connectivity pass there is)
//   pull back     a backward scan over a dense table of adjoints; a None entry is a symbolic zero
//   answer        one entry per x
//
// Rules are looked up in this order: overrides of the call, the rule stamped on the node, the
// registry, the op's own row.
//
// Of some 400 lines: one file because all four parts work on one table of nodes.

#include "grad/reverse.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "grad/adjoint.h"
#include "grad/masks.h"
#include "grad/registry.h"
#include "grad/tape.h"
#include "graph/variable.h"
#include "graph/walk.h"
#include "ops/ops.h"

namespace pullback {
namespace {

class ReversePass {
 public:
  explicit ReversePass(const GradientRequest& request) : request_(request) {}

  std::vector<Ref<Node>> run() {
    collect();
    refuse_lost_histories();
    connect();
    seed();
    pull_back();
    return answer();
  }

 private:
  // How cotangents leave a node.
  struct Exit {
    Ref<Rule> rule;
    std::span<Node* const> inputs;
  };

  Exit exit_of(const Node* node) const {
    if (node->op == Op::result) return {nullptr, rule_side(node)};
    Ref<Rule> rule;
    if (request_.overrides) {
      const auto found = request_.overrides->find(display_name(node));
      if (found != request_.overrides->end()) rule = found->second;
    }
    const bool own = node->rule && node->rule->of_library;
    if (!rule && !own) rule = node->rule;
    if (!rule && registry_used() && !is_leaf(node->op) && node->op != Op::read) {
      rule = registered_rule(display_name(node));
    }
    if (!rule && own) rule = node->rule;
    const auto all = node->inputs();
    if (node->op == Op::custom_call) return {rule, all};
    if (node->op == Op::custom) {
      return {rule, all.empty() ? all : rule ? all.subspan(1) : all.first(1)};
    }
    if (rule) return {rule, all};
    const bool differentiable =
        vjp_of(node->op) && (is_float(node->dtype) || traits(node->op).ring);
    return {nullptr, differentiable ? all : all.first(0)};
  }

  static bool is_own(const Exit& exit, const Node* node) {
    return exit.rule && exit.rule == node->rule && exit.rule->of_library;
  }

  // A result's cotangent goes to the operation that it is an output of.
  static std::span<Node* const> rule_side(const Node* result) {
    const auto all = result->inputs();
    return all.empty() ? all : all.last(1);
  }

  bool differentiable(const Node* node) const {
    // What an operation with several outputs is differentiable by, each output says itself.
    return node->op == Op::custom_call || is_float(node->dtype) ||
           (request_.integers && is_integer(node->dtype));
  }

  void collect() {
    // Nodes at least as old as the oldest x cannot depend on one. Variables are read at any time.
    oldest_ = request_.xs.empty() ? Tape::kNever : Tape::kNever - 1;
    for (const Source& x : request_.xs) {
      oldest_ = std::min(oldest_, x.variable || !x.node ? 0 : x.node->seq);
    }
    if (request_.tape) oldest_ = 0;
    for (const Source& stop : request_.stop) {
      if (stop.node) stopped_nodes_.insert(stop.node.get());
      if (stop.variable) stopped_variables_.insert(stop.variable);
    }
    std::vector<Node*> roots;
    for (const Ref<Node>& y : request_.ys) roots.push_back(y.get());
    const auto ends = [&](const Node* node) {
      return node->seq <= oldest_ || !node->tracked() || stopped(node) ||
             (request_.tape && !request_.tape->recorded(node));
    };
    if (History::live) build_histories(roots, ends);
    walk(roots, &nodes_, [&](const Node* node) {
      return ends(node) ? std::span<Node* const>() : exit_of(node).inputs;
    });
  }

  // Histories that nobody has asked for yet. Not in the walk itself: making nodes may start another
  // one, whose marks would spoil it. Here they only make a node be seen twice.
  template <class Ends>
  void build_histories(std::vector<Node*> pending, const Ends& ends) const {
    const uint32_t epoch = new_epoch();
    while (!pending.empty()) {
      Node* node = pending.back();
      pending.pop_back();
      if (node->mark == epoch || ends(node)) continue;
      node->mark = epoch;
      if (node->origin) {
        if (History* history = node->origin->history()) history->build(node);
      }
      for (Node* input : exit_of(node).inputs) pending.push_back(input);
    }
  }

  // Of a variable whose value a call replaced and did not keep, no gradient passes through what
  // that call returned; None would be a wrong answer.
  void refuse_lost_histories() const {
    const auto lost = [](const Source& x) {
      return history_lost(x.variable ? x.variable : x.node->variable);
    };
    if (std::none_of(request_.xs.begin(), request_.xs.end(), lost)) return;
    for (const Node* node : nodes_) {
      if (!(node->flags & kHistoryLost) || node->flags & kTracked || stopped(node)) continue;
      if (node->seq <= oldest_) continue;  // than every x
      if (request_.tape && !request_.tape->recorded(node)) continue;
      const std::string call =
          node->origin && !node->origin->name.empty() ? node->origin->name : "a function";
      fail(ErrorKind::Runtime, "gradients: a tensor of shape ", node->shape, " comes from ", call,
           ", a call of which assigned variables and did not keep their old values, so its result "
           "has no gradient by them; compute the gradient inside the function, call it under a "
           "GradientTape, or pass its result through stop_gradient where it is a constant");
    }
  }

  // Number of a node of the walk. Node::index is right until some other walk renumbers the node
  // (a rule may evaluate); then a table made once answers.
  size_t position(const Node* node) {
    if (node->index < nodes_.size() && nodes_[node->index] == node) return node->index;
    if (position_.empty()) {
      for (size_t i = 0; i < nodes_.size(); ++i) position_[nodes_[i]] = i;
    }
    const auto found = position_.find(node);
    return found == position_.end() ? kAbsent : found->second;
  }

  bool stopped(const Node* node) const {
    return stopped_nodes_.contains(node) ||
           (node->variable && stopped_variables_.contains(node->variable));
  }

  void connect() {
    const size_t n = nodes_.size();
    live_.assign(n, 0);
    watched_.assign(n, request_.tape == nullptr);
    std::unordered_set<uint64_t> variables;
    std::unordered_set<const Node*> tensors;
    for (const Source& x : request_.xs) {
      if (x.variable) variables.insert(x.variable);
      if (x.node) tensors.insert(x.node.get());
    }
    is_x_.assign(n, 0);
    zeros_.assign(n, Zeros::Drop);
    for (size_t i = 0; i < n; ++i) {
      const Node* node = nodes_[i];
      bool live = false;
      if (node->tracked() && !stopped(node) && differentiable(node) &&
          (!request_.tape || request_.tape->recorded(node))) {
        const Exit exit = exit_of(node);
        Zeros below = Zeros::Drop;
        for (const Node* input : exit.inputs) {
          if (!feeds(input, node)) continue;
          const size_t at = position(input);
          if (live_[at]) below = std::max(below, zeros_[at]);
          live |= live_[at] != 0;
          watched_[i] = 1;
        }
        if (live && !exit.rule) zeros_[i] = zeros_of(node, below);
        if (live && is_own(exit, node)) zeros_[i] = zeros_of_composite(below);
      }
      if (request_.tape && request_.tape->watched_since(node) != Tape::kNever) watched_[i] = 1;
      is_x_[i] = tensors.contains(node) || (node->variable && variables.contains(node->variable));
      live_[i] = live || (is_x_[i] && watched_[i]);
    }
  }

  // Whether `input` counts as an input of `node`: under a tape only if it descends from something
  // that was watched before the node was made.
  bool feeds(const Node* input, const Node* node) {
    if (!differentiable(input)) return false;
    const size_t at = position(input);
    if (at == kAbsent) return false;  // the walk ended above it: older than every x, or stopped
    if (!request_.tape) return true;
    if (!watched_[at]) return false;
    const uint64_t since = request_.tape->watched_since(input);
    return since == Tape::kNever || node->seq >= since || request_.tape->recorded(input);
  }

  void seed() {
    adjoints_.resize(nodes_.size());
    for (size_t i = 0; i < request_.ys.size(); ++i) {
      const Ref<Node>& y = request_.ys[i];
      const size_t at = position(y.get());
      // A y that is itself asked about answers with its seed, watched or not.
      if (!live_[at] && !is_x_[at]) continue;
      Ref<Node> g = i < request_.grad_ys.size() ? request_.grad_ys[i] : nullptr;
      if (!g) g = ones(y->shape, y->dtype);
      adjoints_[at].add({Cotangent::Value, g}, y->shape);
    }
  }

  void pull_back() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (const Node* operation = operation_of(nodes_[i])) results_[operation].push_back(i);
    }
    for (size_t i = nodes_.size(); i-- > 0;) {
      Node* node = nodes_[i];
      if (!live_[i] || stopped(node)) continue;
      const Exit exit = exit_of(node);
      std::vector<uint8_t>& wanted = wanted_;
      wanted.assign(exit.inputs.size(), 0);
      bool any = false;
      for (size_t k = 0; k < wanted.size(); ++k) {
        const size_t at = position(exit.inputs[k]);
        if (at == kAbsent || !live_[at] || !feeds(exit.inputs[k], node)) continue;
        wanted[k] = zeros_[at] >= Zeros::Keep ? kWantedMasked : kWanted;
        any = true;
      }
      if (!any) continue;
      if (request_.tape && !request_.tape->recorded(node)) continue;
      if (node->op == Op::custom_call) {
        apply_to_results(node, exit, wanted);
      } else if (node->op == Op::result) {
        // Its operation is older, and asks for all adjoints together.
      } else if (adjoints_[i].kind() == Cotangent::Zero) {
        pass_zero(exit, wanted);
      } else if (adjoints_[i].kind() == Cotangent::Value) {
        exit.rule ? apply_to_one(node, exit, adjoints_[i], wanted)
                  : apply_row(node, exit, adjoints_[i], wanted);
      }
    }
  }

  void pass_zero(const Exit& exit, const std::vector<uint8_t>& wanted) {
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (wanted[k]) add(exit.inputs[k], {Cotangent::Zero});
    }
  }

  void add(const Node* input, Cotangent contribution, Support support = {}) {
    const size_t at = position(input);
    adjoints_[at].add(std::move(contribution), input->shape, zeros_[at], std::move(support));
  }

  void apply_row(Node* node, const Exit& exit, Adjoint& adjoint,
                 const std::vector<uint8_t>& wanted) {
    const Mask pass = traits(node->op).mask;
    const Support support = pass == Mask::Stops ? Support() : adjoint.support();
    const bool mixes = pass == Mask::Mixes || support.everywhere();
    const Ref<Node> g = mixes ? adjoint.dense() : adjoint.value();
    std::vector<Cotangent>& out = answers_;
    out.resize(wanted.size());
    Ref<Node> product;
    if (node->op == Op::matmul && !support.everywhere()) {
      product = guarded_product(node, support, wanted, zeros_below(node->in[0]),
                                zeros_below(node->in[1]));
    }
    vjp_of(node->op)({product ? product.get() : node, g, wanted}, out.data());
    const bool clean = adjoint.clean() && keeps_zeros(node);
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (!wanted[k]) continue;
      Cotangent& c = out[k];
      const Zeros zeros = zeros_below(exit.inputs[k]);
      settle_mask(node, &c, zeros);
      Support left;
      if (!support.everywhere() && c.kind == Cotangent::Value) {
        c.clean = clean && (c.clean || c.mask == nullptr);
        left = moved(node, support, k, c, zeros);
      }
      add(exit.inputs[k], std::move(c), std::move(left));
    }
    out.clear();
  }

  Zeros zeros_below(const Node* input) {
    const size_t at = position(input);
    return at == kAbsent ? Zeros::Drop : zeros_[at];
  }

  void apply_to_one(Node* node, const Exit& exit, Adjoint& adjoint,
                    const std::vector<uint8_t>& wanted) {
    // Only the library's own rules are known to make zeros of zeros.
    Support support;
    if (is_own(exit, node)) {
      support = moved_in_composite(node, adjoint.support(), zeros_below(exit.inputs[0]));
    }
    apply_rule(node, exit, wanted, {node}, {adjoint.dense()}, support);
  }

  // An operation with several outputs: by now everything that uses any of them has been seen.
  void apply_to_results(Node* operation, const Exit& exit, const std::vector<uint8_t>& wanted) {
    const std::vector<TensorType>& types = *operation->outputs;
    std::vector<Ref<Node>> cotangents(types.size());
    std::vector<Node*> outputs(types.size());
    bool any_value = false;
    bool any_zero = false;
    for (size_t i : results_[operation]) {
      const size_t k = nodes_[i]->output;
      outputs[k] = nodes_[i];
      if (!live_[i] || stopped(nodes_[i]) || !feeds(operation, nodes_[i])) continue;
      any_value |= adjoints_[i].kind() == Cotangent::Value;
      any_zero |= adjoints_[i].kind() == Cotangent::Zero;
      cotangents[k] = adjoints_[i].dense();
    }
    if (!any_value) {
      if (any_zero) pass_zero(exit, wanted);
      return;
    }
    for (size_t k = 0; k < cotangents.size(); ++k) {
      if (!cotangents[k]) cotangents[k] = zeros(types[k].shape, types[k].dtype);
    }
    apply_rule(operation, exit, wanted, outputs, cotangents);
  }

  void apply_rule(Node* node, const Exit& exit, const std::vector<uint8_t>& wanted,
                  const std::vector<Node*>& outputs, const std::vector<Ref<Node>>& cotangents,
                  const Support& support = {}) {
    std::vector<Node*> gs;
    for (const Ref<Node>& g : cotangents) gs.push_back(g.get());
    // A user's custom_gradient goes by the name of its rule, which errors name anyway.
    const bool own = node->op == Op::custom_call ||
                     (node->op == Op::custom && node->attr.composite == Composite::None);
    const RuleCall call{own ? name_of(Op::custom) : display_name(node), node, exit.inputs, outputs,
                        gs};
    std::vector<Cotangent> out = exit.rule->apply(call);
    if (out.size() != wanted.size()) {
      fail(ErrorKind::Value, call.op, ": the gradient rule ", exit.rule->name, " returned ",
           static_cast<int64_t>(out.size()), " gradients for ", static_cast<int64_t>(wanted.size()),
           " inputs");
    }
    for (size_t k = 0; k < out.size(); ++k) {
      if (out[k].kind == Cotangent::Value) check_result(call, *exit.rule, out[k], k);
      if (!wanted[k]) continue;
      settle_mask(node, &out[k], zeros_below(exit.inputs[k]));
      add(exit.inputs[k], std::move(out[k]), support);
    }
  }

  static void check_result(const RuleCall& call, const Rule& rule, const Cotangent& c, size_t k) {
    const Node* input = call.inputs[k];
    if (c.value->dtype != input->dtype) {
      fail(ErrorKind::Type, call.op, ": the gradient rule ", rule.name, " returned ",
           c.value->dtype, " for input ", static_cast<int64_t>(k), ", which is ", input->dtype,
           "; cast it");
    }
    // An elementwise input that was broadcast may be answered at the result's shape: the sum over
    // broadcast axes is done here, as for the library's own rules.
    const bool summed = is_elementwise(call.node->op) && c.value->shape == call.node->shape &&
                        broadcasts_to(input->shape, c.value->shape);
    if (!(c.value->shape == input->shape) && !summed) {
      fail(ErrorKind::Value, call.op, ": the gradient rule ", rule.name, " returned shape ",
           c.value->shape, " for input ", static_cast<int64_t>(k), " of shape ", input->shape);
    }
  }

  std::vector<Ref<Node>> answer() {
    std::vector<Ref<Node>> out;
    std::unordered_map<uint64_t, std::vector<size_t>> reads;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (is_x_[i] && nodes_[i]->variable) reads[nodes_[i]->variable].push_back(i);
    }
    for (const Source& x : request_.xs) {
      std::vector<size_t> places;
      if (x.variable) {
        places = reads[x.variable];
      } else if (const size_t at = position(x.node.get()); at != kAbsent) {
        places = {at};
      }
      Adjoint total;
      for (size_t i : places) {
        total.add({adjoints_[i].kind(), adjoints_[i].dense()}, nodes_[i]->shape);
      }
      if (total.kind() == Cotangent::Zero) {
        const Node* node = nodes_[places[0]];
        total.add({Cotangent::Value, zeros(node->shape, node->dtype)}, node->shape);
      }
      Ref<Node> g = total.dense();
      if (g && !g->tracked()) {
        // A slope that happens to be constant has a history as well: asking for its own gradient
        // is no mistake, the answer is just None.
        g = identity(g);
        g->flags |= kTracked;
      }
      out.push_back(std::move(g));
    }
    return out;
  }

  static constexpr size_t kAbsent = static_cast<size_t>(-1);

  const GradientRequest& request_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> position_;
  std::unordered_set<const Node*> stopped_nodes_;
  std::unordered_set<uint64_t> stopped_variables_;
  uint64_t oldest_ = 0;  // nodes up to this number depend on no x
  std::vector<uint8_t> live_, watched_, is_x_;
  std::vector<Adjoint> adjoints_;
  std::unordered_map<const Node*, std::vector<size_t>> results_;  // of operations with several
  std::vector<Zeros> zeros_;        // what a node makes of structural zeros
  std::vector<uint8_t> wanted_;     // of the node that is pulled back now: which inputs, …
  std::vector<Cotangent> answers_;  // … and what they get
};

}  // namespace

std::vector<Ref<Node>> gradients(const GradientRequest& request) {
  return ReversePass(request).run();
}

}  // namespace pullback
