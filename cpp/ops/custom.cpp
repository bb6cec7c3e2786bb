// custom_gradient: nodes with the value of one computation and the gradient of another. One output
// is one `custom` node. Several are results of one `custom_call`, whose rule runs once for all of
// them.

#include "graph/make.h"
#include "graph/operation.h"
#include "ops/composite.h"

namespace pullback {
namespace {

NodeRef single(const NodeRef& inside, std::span<Node* const> inputs, const Ref<Rule>& rule) {
  std::vector<Node*> all = {inside.get()};
  all.insert(all.end(), inputs.begin(), inputs.end());
  NodeRef node = make_node(Op::custom, inside->dtype, inside->shape, all);
  node->rule = rule;
  return node;
}

}  // namespace

// The call has the flags of everything inside its results: a pass may visit any of these nodes
// first.
NodeRef custom_call(std::span<Node* const> inside, std::span<Node* const> inputs,
                    const Attr& attr) {
  NodeRef call = make_node(Op::custom_call, DType::Bool, {}, inputs, attr);
  call->operation = new Operation;
  call->operation->outputs.reserve(inside.size());
  for (const Node* y : inside) {
    call->operation->outputs.push_back({y->dtype, y->shape});
    call->flags |= y->flags & kTraced;
  }
  return call;
}

std::vector<NodeRef> custom(std::span<const NodeRef> inside, std::span<const NodeRef> inputs,
                            const Ref<Rule>& rule) {
  if (inside.size() == 1) return {single(inside[0], pointers(inputs), rule)};
  const NodeRef call = custom_call(pointers(inside), pointers(inputs));
  call->rule = rule;
  std::vector<NodeRef> out;
  for (size_t k = 0; k < inside.size(); ++k) {
    Node* edges[] = {inside[k].get(), call.get()};
    out.push_back(make_node(Op::result, inside[k]->dtype, inside[k]->shape, edges));
    out.back()->output = static_cast<uint32_t>(k);
  }
  return out;
}

}  // namespace pullback
