// LoopView: a loop as the passes see it. Used by loops.cpp (reverse), loop_tangents.cpp (forward)
// and loop_replayed.cpp (reverse of unknown length).
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "grad/control/body_passes.h"

namespace pullback {

struct LoopView {
  explicit LoopView(const NodeRef& loop)
      : node(loop),
        operation(*loop->operation),
        form(operation.loop),
        body(*operation.bodies[0]),
        carries(form.carries),
        stacked_end(carries + form.stacked_in) {}

  NodeRef input(size_t i) const { return NodeRef(node->inputs()[operation.inputs[0][i]]); }
  size_t count_output() const { return body.roots.size(); }
  size_t residual_output(size_t k) const { return body.roots.size() + 1 + k; }
  bool known() const { return form.trips >= 0; }
  // The number of iterations as a tensor, if it is not known before.
  NodeRef count() const {
    return form.trips == kWhile ? output_of(node, count_output()) : NodeRef(node->inputs().back());
  }

  const NodeRef node;
  const Operation& operation;
  const LoopForm& form;
  const Body& body;
  const size_t carries, stacked_end;  // positions among the body's inputs
};

// --- the derived loops; cotangents, tangents and flags are those of the body's inputs

std::vector<NodeRef> reverse_loop(const NodeRef& loop, std::span<const NodeRef> cotangents,
                                  Flags wanted, const OverrideMap* overrides);

// The loop with tangents. The carry of the original loop comes first in its carry.
struct TangentLoop {
  NodeRef node;
  // For each output of the loop, the output of this loop with its tangent, if any.
  std::vector<std::optional<size_t>> places;
};
TangentLoop tangent_loop(const NodeRef& loop, std::vector<NodeRef> tangents,
                         const OverrideMap* overrides);

// For a loop that replays another one: as loop_cotangents and loop_tangents.
std::vector<NodeRef> replaying_cotangents(const NodeRef& reverse, std::span<const NodeRef> ws,
                                          std::span<const uint8_t> wanted,
                                          const OverrideMap* overrides);
std::vector<NodeRef> replaying_tangents(const NodeRef& reverse, std::span<const NodeRef> ts,
                                        const OverrideMap* overrides);

}  // namespace pullback
