// Derivatives that loops and branches share: the passes over bodies, and the rebinding of copies.
#include "grad/control_flow.h"

#include <algorithm>
#include <unordered_set>

#include "grad/control/body_passes.h"
#include "grad/forward.h"
#include "graph/graph_copy.h"
#include "graph/make.h"
#include "graph/walk.h"

namespace pullback {

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
                                  const Flags& roots, const OverrideMap* overrides) {
  TangentRequest request;
  request.of.overrides = overrides;
  for (size_t k = 0; k < roots.size(); ++k) {
    if (roots[k]) request.of.ys.push_back(body.roots[k]);
  }
  for (size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i]) continue;
    request.of.xs.push_back({body.inputs[i], 0});
    request.xs_tangents.push_back(tangents[i]);
  }
  const std::vector<NodeRef> answers = pullback::tangents(request);
  std::vector<NodeRef> out(roots.size());
  size_t next = 0;
  for (size_t k = 0; k < roots.size(); ++k) {
    if (roots[k]) out[k] = answers[next++];
  }
  return out;
}

NodeRef argument_like(const NodeRef& node) { return make_argument(node->dtype, node->shape); }
NodeRef zeros_like(const NodeRef& node) { return zeros(node->shape, node->dtype); }

NodeRef sum_of(const NodeRef& a, const NodeRef& b) {
  Node* inputs[] = {a.get(), b.get()};
  return a && b ? elementwise(Op::add, inputs) : a ? a : b;
}

namespace {

// Calls `derive` for an operation. For a copy, calls it for the original and rebinds the result to
// the copy; the given tensors are passed as new nodes, since they may depend on inputs of the
// original.
template <class Derive>
std::vector<NodeRef> rebound_to_original(const NodeRef& operation, std::span<const NodeRef> given,
                                         const Derive& derive) {
  const auto* copied = dynamic_cast<const CopiedOperation*>(operation->origin.get());
  if (!copied) return derive(operation, given);
  Replacements replaced;
  std::vector<NodeRef> named;
  replaced.add(copied->original.get(), operation);
  replaced.add_all(copied->original->inputs(), operation->inputs());
  for (const NodeRef& one : given) {
    Node* input = one.get();
    named.push_back(one ? make_node(Op::identity, one->dtype, one->shape, {&input, 1}) : nullptr);
    if (one) replaced.add(named.back().get(), one);
  }
  const uint64_t since = next_seq();
  std::vector<NodeRef> answers = rebound_to_original(copied->original, named, derive), roots;
  for (const NodeRef& answer : answers) {
    if (answer) roots.push_back(answer);
  }
  const auto made = copied->copy->rebind(std::move(roots), replaced, since);
  size_t next = 0;
  for (NodeRef& answer : answers) {
    if (answer) answer = made[next++];
  }
  return answers;
}

}  // namespace

std::vector<NodeRef> control_cotangents(const NodeRef& operation,
                                        std::span<const NodeRef> cotangents,
                                        std::span<const uint8_t> wanted,
                                        const OverrideMap* overrides) {
  // Nodes made here belong to bodies and must not be stamped with overrides.
  const NoOverrides none;
  const auto of = operation->op == Op::loop ? loop_cotangents : branch_cotangents;
  return rebound_to_original(operation, cotangents, [&](const NodeRef& node, auto given) {
    return of(node, given, wanted, overrides);
  });
}

std::vector<NodeRef> control_tangents(const NodeRef& operation, std::span<const NodeRef> tangents,
                                      const OverrideMap* overrides) {
  const NoOverrides none;
  const auto of = operation->op == Op::loop ? loop_tangents : branch_tangents;
  return rebound_to_original(operation, tangents, [&](const NodeRef& node, auto given) {
    return of(node, given, overrides);
  });
}

}  // namespace pullback
