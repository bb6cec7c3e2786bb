// Derivatives of a branch: a branch whose choices are the derivatives of the choices. Where one
// choice has no derivative and another has, it returns zeros.
#include <algorithm>

#include "grad/control/body_passes.h"

namespace pullback {
namespace {

// The derivative of one choice.
struct Side {
  BodyNumbers numbers;
  std::vector<NodeRef> arguments, inputs;  // in addition to those of the choice
  std::vector<NodeRef> answers;            // derivatives, null if none
};

// Makes the branch of the derivatives; it has an output for each derivative that some choice has.
std::vector<NodeRef> join(const NodeRef& branch, std::vector<Side> sides,
                          std::span<const NodeRef> like) {
  const Operation& operation = *branch->operation;
  Flags answered(like.size());
  for (const Side& side : sides) {
    for (size_t i = 0; i < answered.size(); ++i) answered[i] |= side.answers[i] != nullptr;
  }
  std::vector<NodeRef> out(like.size());
  if (std::ranges::none_of(answered, [](uint8_t one) { return one; })) return out;
  std::vector<BoundBody> choices;
  for (size_t b = 0; b < sides.size(); ++b) {
    const Body& body = *operation.bodies[b];
    BodyRequest request{body.name, body.inputs, {}, sides[b].numbers, true, &body};
    std::vector<NodeRef> inputs;
    for (const InputSource& source : operation.inputs[b]) {
      inputs.emplace_back(branch->inputs()[source.number]);
    }
    for (size_t k = 0; k < sides[b].arguments.size(); ++k) {
      request.arguments.push_back(sides[b].arguments[k]);
      inputs.push_back(sides[b].inputs[k]);
    }
    for (size_t i = 0; i < answered.size(); ++i) {
      if (!answered[i]) continue;
      const NodeRef& answer = sides[b].answers[i];
      request.roots.push_back(answer ? answer : zeros_like(like[i]));
    }
    choices.push_back(close_body(std::move(request)).bind_to(std::move(inputs)));
  }
  const NodeRef made = make_branch(NodeRef(branch->inputs()[0]), choices);
  size_t next = 0;
  for (size_t i = 0; i < answered.size(); ++i) {
    if (answered[i]) out[i] = output_of(made, next++);
  }
  return out;
}

}  // namespace

std::vector<NodeRef> branch_cotangents(const NodeRef& branch, std::span<const NodeRef> cotangents,
                                       std::span<const uint8_t> wanted,
                                       const OverrideMap* overrides) {
  const Operation& operation = *branch->operation;
  std::vector<Side> sides;
  for (size_t b = 0; b < operation.bodies.size(); ++b) {
    const Body& body = *operation.bodies[b];
    const std::vector<InputSource>& sources = operation.inputs[b];
    Side& side = sides.emplace_back();
    std::vector<NodeRef> gs(cotangents.size());
    for (size_t k = 0; k < gs.size(); ++k) {
      if (!cotangents[k]) continue;
      gs[k] = argument_like(body.roots[k]);
      side.arguments.push_back(gs[k]);
      side.inputs.push_back(cotangents[k]);
    }
    Flags from;
    for (size_t i = 0; i < sources.size(); ++i) {
      from.push_back(wanted[sources[i].number] && is_inexact(body.inputs[i]->dtype));
    }
    const auto answers = pull_back(body, gs, from, overrides);
    side.answers.resize(branch->inputs_count);
    for (size_t i = 0; i < answers.size(); ++i) {
      NodeRef& at = side.answers[sources[i].number];
      at = sum_of(at, answers[i]);
    }
  }
  std::vector<NodeRef> like;
  for (Node* input : branch->inputs()) like.emplace_back(input);
  return join(branch, std::move(sides), like);
}

std::vector<NodeRef> branch_tangents(const NodeRef& branch, std::span<const NodeRef> tangents,
                                     const OverrideMap* overrides) {
  const Operation& operation = *branch->operation;
  std::vector<Side> sides;
  for (size_t b = 0; b < operation.bodies.size(); ++b) {
    const Body& body = *operation.bodies[b];
    Side& side = sides.emplace_back();
    std::vector<NodeRef> ts;
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const NodeRef& t = tangents[operation.inputs[b][i].number];
      ts.push_back(t ? argument_like(body.inputs[i]) : nullptr);
      if (!t) continue;
      side.arguments.push_back(ts.back());
      side.inputs.push_back(t);
    }
    side.answers = push_forward(body, ts, Flags(body.roots.size(), 1), overrides);
  }
  return join(branch, std::move(sides), operation.bodies[0]->roots);
}

}  // namespace pullback
