// Replaces tensors outside in the answers of a rule.
#include "ops/rule_in_body.h"

#include "graph/graph_copy.h"
#include "graph/make.h"
#include "graph/rebuild.h"

namespace pullback {

RuleInBody::RuleInBody(Ref<Rule> rule, Ref<Inputs> inputs)
    : rule_(std::move(rule)), inputs_(std::move(inputs)) {
  name = rule_->name;
}

std::vector<Cotangent> RuleInBody::apply(const RuleCall& call) {
  const uint64_t first = next_seq();  // older nodes were not made by this application
  std::vector<Cotangent> answers = rule_->apply(call);
  remake_answers(&answers, [&](std::vector<NodeRef> roots) {
    const Subgraph own(
        std::move(roots), pointers(inputs_->outside), [](const Node*) { return false; },
        [&](const Node* node) { return node->seq >= first; });
    return own.rebuild(inputs_->inputs, [&](size_t, const Node* node, auto below) {
      NodeRef copy = copy_node(node, below);
      if (by_users_rule(copy.get())) copy->rule = new RuleInBody(copy->rule, inputs_);
      return copy;
    });
  });
  return answers;
}

}  // namespace pullback
