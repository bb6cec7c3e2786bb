// What loops and branches have in common; each has a file of its own.
#include "grad/control.h"

#include <algorithm>
#include <unordered_set>

#include "grad/body_passes.h"
#include "grad/forward.h"
#include "graph/make.h"
#include "graph/walk.h"

namespace pullback {

Flags depending(const Body& body, const Flags& inputs) {
  std::unordered_set<const Node*> from;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) from.insert(body.inputs[i].get());
  }
  std::vector<Node*> roots, below;
  for (const NodeRef& root : body.roots) roots.push_back(root.get());
  walk(roots, &below, [](const Node* node) { return node->inputs(); });
  for (const Node* node : below) {
    const auto all = node->inputs();
    if (std::ranges::any_of(all, [&](const Node* input) { return from.contains(input); })) {
      from.insert(node);
    }
  }
  Flags out;
  for (const NodeRef& root : body.roots) out.push_back(from.contains(root.get()));
  return out;
}

std::vector<NodeRef> pull_back(const Body& body, std::span<const NodeRef> cotangents,
                               const Flags& inputs, const OverrideMap* overrides) {
  GradientRequest request;
  request.overrides = overrides;
  for (size_t k = 0; k < cotangents.size(); ++k) {
    if (!cotangents[k]) continue;
    request.ys.push_back(body.roots[k]);
    request.grad_ys.push_back(cotangents[k]);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) request.xs.push_back({body.inputs[i], 0});
  }
  const std::vector<NodeRef> answers = gradients(request);
  std::vector<NodeRef> out(inputs.size());
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) out[i] = answers[next++];
  }
  return out;
}

std::vector<NodeRef> push_forward(const Body& body, std::span<const NodeRef> tangents,
                                  const OverrideMap* overrides) {
  TangentRequest request;
  request.of.overrides = overrides;
  request.of.ys = body.roots;
  for (size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i]) continue;
    request.of.xs.push_back({body.inputs[i], 0});
    request.xs_tangents.push_back(tangents[i]);
  }
  return pullback::tangents(request);
}

NodeRef argument_like(const NodeRef& node) { return make_argument(node->dtype, node->shape); }
NodeRef zeros_like(const NodeRef& node) { return zeros(node->shape, node->dtype); }

NodeRef sum_of(const NodeRef& a, const NodeRef& b) {
  Node* inputs[] = {a.get(), b.get()};
  return a && b ? elementwise(Op::add, inputs) : a ? a : b;
}

std::vector<Ref<Node>> control_cotangents(const Ref<Node>& operation,
                                          std::span<const Ref<Node>> cotangents,
                                          std::span<const uint8_t> wanted,
                                          const OverrideMap* overrides) {
  // What is made here is of bodies: nobody stamps it.
  const NoOverrides none;
  return (operation->op == Op::loop ? loop_cotangents : branch_cotangents)(operation, cotangents,
                                                                           wanted, overrides);
}

std::vector<Ref<Node>> control_tangents(const Ref<Node>& operation,
                                        std::span<const Ref<Node>> tangents,
                                        const OverrideMap* overrides) {
  const NoOverrides none;
  return (operation->op == Op::loop ? loop_tangents : branch_tangents)(operation, tangents,
                                                                       overrides);
}

}  // namespace pullback
