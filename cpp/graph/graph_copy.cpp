// Copies of closed graphs: their rules and the rebinding of what these return.
#include "graph/graph_copy.h"

#include <algorithm>
#include <utility>

#include "graph/make.h"
#include "graph/operation.h"
#include "graph/rebuild.h"
#include "graph/walk.h"

namespace pullback {

class CopiedRule : public Rule {
 public:
  CopiedRule(const Node* node, Ref<GraphCopy> copy, const char* op)
      : rule_(node->rule), node_(const_cast<Node*>(node)), copy_(std::move(copy)), op_(op) {
    name = rule_->name;
  }

  std::vector<Cotangent> apply(const RuleCall& call) override {
    Replacements replaced;
    const uint64_t since = next_seq();
    std::vector<Cotangent> answers =
        copy_->calls_original() ? of_original(call, &replaced) : of_copy(call, &replaced);
    copy_->rebind_answers(&answers, replaced, since);
    return answers;
  }

 private:
  std::vector<Cotangent> of_copy(const RuleCall& call, Replacements* replaced) const {
    if (node_->op == Op::custom && call.node->inputs_count > 0) {
      replaced->add(node_->in[0], NodeRef(call.node->in[0]));
    }
    replaced->add_all(rule_inputs(node_.get()), call.inputs);
    return rule_->apply(call);
  }

  std::vector<Cotangent> of_original(const RuleCall& call, Replacements* replaced) const {
    const bool several = node_->op == Op::custom_call;
    std::vector<NodeRef> held;
    for (size_t k = 0; k < call.cotangents.size(); ++k) {
      const Shape& shape = several ? node_->operation->outputs[k].shape : node_->shape;
      held.push_back(copy_->placeholder(call.cotangents[k], shape));
    }
    const auto cotangents = pointers(held);
    const auto own = node_->op == Op::custom ? rule_inputs(node_.get()) : node_->inputs();
    std::vector<Node*> inputs(own.begin(), own.end());
    for (size_t k = 0; k < inputs.size(); ++k) {
      const bool number = inputs[k]->op == Op::scalar && call.inputs[k]->shape.rank == 0;
      if (number) inputs[k] = call.inputs[k];  // with its resolved dtype
    }
    std::vector<Node*> outputs(call.outputs.size());
    replaced->add_all(cotangents, call.cotangents);
    replaced->add_all(inputs, call.inputs);
    if (!several) {
      outputs[0] = node_.get();
      replaced->add(node_.get(), NodeRef(call.node));
    }
    return rule_->apply({op_ ? op_ : call.op, node_.get(), inputs, outputs, cotangents});
  }

  Ref<Rule> rule_;
  NodeRef node_;  // the original
  Ref<GraphCopy> copy_;
  const char* op_;
};

Ref<Rule> copied_rule(const Node* node, Ref<GraphCopy> copy, const char* op) {
  return Ref<Rule>(new CopiedRule(node, std::move(copy), op));
}

NodeRef GraphCopy::copy(const Node* node, std::span<Node* const> inputs) {
  NodeRef made = copy_node(node, inputs);
  if (by_users_rule(made.get())) made->rule = copied_rule(node, this);
  if (holds_rules(node)) made->origin = new CopiedOperation(node, this);
  return made;
}

// The inputs of the graph are replaced first: an operand of a rule that is one of them has the
// dtype with which it was recorded.
std::vector<NodeRef> GraphCopy::rebind(std::vector<NodeRef> roots, const Replacements& more,
                                       uint64_t since) {
  const auto inputs = pointers(graph_->inputs);
  std::vector<Node*> from(inputs.begin(), inputs.end());
  std::vector<NodeRef> to = inputs_;
  const auto also = pointers(more.from);
  from.insert(from.end(), also.begin(), also.end());
  to.insert(to.end(), more.to.begin(), more.to.end());
  // The masks and constants of a checkpoint are shared: each rule would copy all of them.
  const bool share = graph_->extent == ClosedGraph::Extent::Recorded;
  const Subgraph subgraph(
      std::move(roots), from,
      [&](const Node* node) { return rules_since(node, since) || (!share && graph_->owns(node)); },
      [&](const Node* node) { return node->seq >= since || graph_->may_copy(node); });
  std::vector<NodeRef> out =
      subgraph.rebuild(to, [&](size_t, const Node* node, auto below) { return copy(node, below); });
  return around_ ? around_->rebind(std::move(out), {}, since) : out;
}

void GraphCopy::rebind_answers(std::vector<Cotangent>* answers, const Replacements& more,
                               uint64_t since) {
  remake_answers(answers,
                 [&](std::vector<NodeRef> roots) { return rebind(std::move(roots), more, since); });
}

bool GraphCopy::calls_original() const { return graph_->extent == ClosedGraph::Extent::Recorded; }

// A node of its own, since a cotangent may be a tensor of a graph that is not traced.
NodeRef GraphCopy::placeholder(Node* cotangent, const Shape&) const {
  return make_node(Op::identity, cotangent->dtype, cotangent->shape, {&cotangent, 1});
}

bool holds_rules(const Node* node) {
  return node->operation &&
         std::ranges::any_of(node->operation->bodies, &Body::holds_rules,
                             [](const Ref<Body>& b) -> const Body& { return *b; });
}

bool rules_since(const Node* node, uint64_t first) {
  return node->seq >= first && (by_users_rule(node) || holds_rules(node));
}

}  // namespace pullback
