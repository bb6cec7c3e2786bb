// Products that a loop and its reverse both compute: the loop stacks them, and the reverse reads
// them instead of computing them again.
//
// The body of a reverse contains the nodes of the original body that it needs, and recomputes them
// from the residuals. A matrix product costs much more than the memory traffic of its result. If
// one plan contains both loops, the result becomes a stacked output of the first and a scanned
// input of the second. The graph does not change. Start at find_kept_products.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/operation.h"
#include "plan/plan.h"

namespace pullback {

struct KeptProduct {
  const Node* loop;     // computes the node
  const Node* reverse;  // reads it
  Node* node;           // in the bodies of both
};

// `loops`: the loops of a plan in their order, with the flags of the roots of their bodies that are
// computed. The products of a loop are kept if they need at most a few times the memory of its
// carries.
struct LoopRoots {
  const Node* loop;
  std::vector<uint8_t> wanted;
};
std::vector<KeptProduct> find_kept_products(std::span<const LoopRoots> loops);

// A node of a body, and the memory of its values in all iterations.
struct StackedNode {
  Node* node;
  View view;
};

// A body with further roots and inputs: the values of `outputs` are roots, and inputs take the
// place of `inputs`. `sources` is as in Operation::inputs, for a loop to which the inputs were
// added after its other scanned inputs.
struct ExtendedBody {
  Ref<Body> body;
  std::vector<InputSource> sources;
};
ExtendedBody extend_body(const Operation& operation, std::span<const StackedNode> outputs,
                         std::span<const StackedNode> inputs);

}  // namespace pullback
