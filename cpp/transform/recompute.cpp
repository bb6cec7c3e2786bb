// Copies recorded subgraphs: one walk, then copy_node() of rebuild.h, inputs before users.
//
// A user-defined rule may reference tensors of the original. So an operation of a copy has a rule
// that calls the original rule on the original operation and rebuilds its results on the copy.
#include "transform/recompute.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "graph/make.h"
#include "graph/op.h"
#include "graph/rebuild.h"
#include "graph/rule.h"
#include "graph/walk.h"

namespace pullback {

struct RecordedSubgraph::On {
  RecordedSubgraph subgraph;
  std::vector<NodeRef> inputs, others;
};

class RecordedSubgraph::CopiedRule : public Rule {
 public:
  CopiedRule(Ref<Rule> own, const Node* node, std::shared_ptr<const On> on)
      : own_(std::move(own)), node_(const_cast<Node*>(node)), on_(std::move(on)) {
    name = own_->name;
  }

  std::vector<Cotangent> apply(const RuleCall& call) override {
    std::vector<Node*> from;
    std::vector<NodeRef> to, cotangents;
    const auto substitute = [&](Node* one, Node* other) {
      from.push_back(one);
      to.emplace_back(other);
    };
    for (Node* g : call.cotangents) {  // under placeholders: one may be a tensor of the subgraph
      cotangents.push_back(make_node(Op::identity, g->dtype, g->shape, {&g, 1}));
      substitute(cotangents.back().get(), g);
    }
    const auto own = node_->op == Op::custom ? rule_inputs(node_.get()) : node_->inputs();
    std::vector<Node*> inputs(own.begin(), own.end());
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k]->op == Op::scalar) inputs[k] = call.inputs[k];  // with its resolved dtype
      substitute(inputs[k], call.inputs[k]);
    }
    std::vector<Node*> outputs(call.outputs.size());
    if (node_->op != Op::custom_call) {
      outputs[0] = node_.get();
      substitute(node_.get(), call.node);
    }
    std::vector<Cotangent> answers =
        own_->apply({call.op, node_.get(), inputs, outputs, pointers(cotangents)});
    remake_answers(&answers, [&](std::vector<NodeRef> roots) {
      return rebind(std::move(roots), std::move(from), std::move(to), on_);
    });
    return answers;
  }

 private:
  Ref<Rule> own_;
  NodeRef node_;  // in the original
  std::shared_ptr<const On> on_;
};

class RecordedSubgraph::CopiedOperation : public Original {
 public:
  CopiedOperation(const Node* original, std::shared_ptr<const On> on)
      : Original(original), on_(std::move(on)) {}

  std::vector<NodeRef> rebound_to_copy(std::vector<NodeRef> roots, std::vector<Node*> from,
                                       std::vector<NodeRef> to) const override {
    return rebind(std::move(roots), std::move(from), std::move(to), on_);
  }

 private:
  std::shared_ptr<const On> on_;
};

// Rebuilds nodes that were made from tensors of the original onto a copy.
std::vector<NodeRef> RecordedSubgraph::rebind(std::vector<NodeRef> roots, std::vector<Node*> from,
                                              std::vector<NodeRef> to,
                                              const std::shared_ptr<const On>& on) {
  for (size_t k = 0; k < on->inputs.size(); ++k) {
    from.push_back(on->inputs[k].get());
    to.push_back(on->others[k]);
  }
  const Subgraph made(
      std::move(roots), from, [](const Node*) { return false; },
      [&](const Node* node) { return on->subgraph.inside(node); });
  return made.rebuild(
      to, [&](size_t, const Node* node, auto below) { return copied(node, below, on); });
}

NodeRef RecordedSubgraph::copied(const Node* node, std::span<Node* const> inputs,
                                 const std::shared_ptr<const On>& on) {
  NodeRef copy = copy_node(node, inputs);
  if (by_users_rule(copy.get())) copy->rule = new CopiedRule(copy->rule, node, on);
  if (holds_rules(node)) copy->origin = new CopiedOperation(node, on);
  return copy;
}

// An output node made later than its operation is an input if the operation is older than the
// subgraph. Reverse passes make such outputs: residuals of a loop, vectors of a factorisation.
bool RecordedSubgraph::inside(const Node* node) const {
  const Node* operation = operation_of(node);
  if (operation && operation->seq < first) return false;
  return node->seq >= first && node->inputs_count > 0 && node->op != Op::read;
}

std::vector<Node*> RecordedSubgraph::nodes() const {
  std::vector<Node*> out;
  walk(pointers(roots), &out,
       [&](const Node* node) { return inside(node) ? node->inputs() : std::span<Node* const>(); });
  return out;
}

std::vector<NodeRef> RecordedSubgraph::inputs() const {
  std::vector<NodeRef> out;
  for (Node* node : nodes()) {
    if (!inside(node) && node->tracked()) out.emplace_back(node);
  }
  return out;
}

void RecordedSubgraph::never_keep() const {
  for (Node* node : nodes()) {
    if (inside(node)) node->attr.keep = Keep::Never;
  }
}

std::vector<NodeRef> RecordedSubgraph::copy(std::span<const NodeRef> inputs,
                                            std::span<const NodeRef> others,
                                            Keep keep_roots) const {
  std::unordered_map<const Node*, NodeRef> made;
  for (size_t i = 0; i < inputs.size(); ++i) made[inputs[i].get()] = others[i];
  const auto on = std::make_shared<const On>(
      On{*this, {inputs.begin(), inputs.end()}, {others.begin(), others.end()}});
  std::vector<Node*> below;
  for (Node* node : nodes()) {
    if (made.contains(node)) continue;
    if (!inside(node)) {
      made[node] = NodeRef(node);
      continue;
    }
    below.clear();
    for (const Node* input : node->inputs()) below.push_back(made.at(input).get());
    made[node] = copied(node, below, on);
    made[node]->attr.keep = Keep::Never;
  }
  std::vector<NodeRef> out;
  for (const NodeRef& root : roots) {
    out.push_back(made.at(root.get()));
    if (inside(root.get())) out.back()->attr.keep = keep_roots;
  }
  return out;
}

}  // namespace pullback
