// custom_gradient: nodes with the value of one computation and the gradient of another.

#include "base/error.h"
#include "graph/make.h"
#include "ops/composite.h"

namespace pullback {

std::vector<NodeRef> custom(std::span<const NodeRef> inside, std::span<const NodeRef> inputs,
                            const Ref<Rule>& rule) {
  if (inside.size() > INT16_MAX) fail(ErrorKind::Value, "custom_gradient: too many outputs");
  std::vector<Node*> all = {nullptr};
  for (const NodeRef& x : inputs) all.push_back(x.get());
  if (inside.size() > 1) {
    for (const NodeRef& y : inside) rule->outputs.push_back({y->dtype, y->shape});
  }
  static int64_t last_call = 0;
  const int64_t call = ++last_call;
  std::vector<NodeRef> out;
  for (size_t i = 0; i < inside.size(); ++i) {
    all[0] = inside[i].get();
    NodeRef node = make_node(Op::custom, inside[i]->dtype, inside[i]->shape, all);
    node->rule = rule;
    // Which output of which call this is; the reverse pass answers all of a call together.
    node->scalar.i = call;
    node->attr.order.bits = i;
    out.push_back(std::move(node));
  }
  return out;
}

}  // namespace pullback
