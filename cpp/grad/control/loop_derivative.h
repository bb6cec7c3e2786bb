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

  NodeRef input(size_t i) const { return NodeRef(node->inputs()[operation.inputs[0][i].number]); }
  size_t count_output() const { return body.roots.size(); }
  size_t residual_output(size_t k) const { return body.roots.size() + 1 + k; }
  bool known() const { return form.has_trips(); }
  // The number of iterations as a tensor, if it is not known before.
  NodeRef count() const {
    return form.end == LoopEnd::Condition ? output_of(node, count_output())
                                          : NodeRef(node->inputs().back());
  }

  const NodeRef node;
  const Operation& operation;
  const LoopForm& form;
  const Body& body;
  const size_t carries, stacked_end;  // positions among the body's inputs
};

// Derives the body of a loop until no further carry gets a seed: a cotangent of its root (reverse)
// or a tangent of its input (forward). Seeds are placeholders, made like `like`, which are the
// body's roots or inputs. Returns the results of all seeds, for `all`.
//   derive(seeds, wanted): the cotangents of the wanted inputs or tangents of the wanted roots
//   depending(flags): which of them depend on the flagged seeds
// Two rounds are enough for most loops. A chain of carries needs as many rounds as carries: from
// the third on, only new seeds are passed on, to the results that depend on them, and finally all
// of them once.
template <class Derive, class Depending>
std::vector<NodeRef> derive_all_iterations(std::vector<NodeRef>* seeds,
                                           const std::vector<NodeRef>& like, size_t carries,
                                           const Flags& all, Derive&& derive,
                                           Depending&& depending) {
  std::vector<NodeRef> given = *seeds;
  Flags wanted = all;
  for (int round = 1;; ++round) {
    const bool complete = given == *seeds;
    std::vector<NodeRef> results = derive(given, wanted);
    std::vector<NodeRef> fresh(seeds->size());
    Flags added(seeds->size());
    bool any = false;
    for (size_t k = 0; k < carries; ++k) {
      if (!results[k] || (*seeds)[k]) continue;
      added[k] = any = true;
      fresh[k] = (*seeds)[k] = argument_like(like[k]);
    }
    if (!any && complete) return results;
    if (!any || round == 1) {
      given = *seeds;
      wanted = all;
      continue;
    }
    given = std::move(fresh);
    wanted = depending(added);
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] &= all[i];
  }
}

// --- the derived loops; cotangents, tangents and flags are those of the body's inputs

std::vector<NodeRef> reverse_loop(const NodeRef& loop, std::span<const NodeRef> cotangents,
                                  Flags wanted, const OverrideMap* overrides);

// The loop with tangents. The carry of the original loop comes first in its carry.
struct TangentLoop {
  NodeRef node;
  // For each output of the loop, the output of this loop with its tangent, if any.
  std::vector<std::optional<size_t>> places;
  std::vector<NodeRef> arguments;  // tangents of the inputs of the original body; null if none
  // Inputs of its body beyond the original ones and their tangents, with the tensors to which they
  // are bound: those that only gradient rules refer to.
  std::vector<NodeRef> captured, captured_values;
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
