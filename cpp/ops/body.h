// Bodies: pieces of graph closed off from what is around them, and the operations that run them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/operation.h"
#include "graph/rebuild.h"
#include "ops/ops.h"

namespace pullback {

// What is made from now on, for a body that will be closed.
class BodyNumbers {
 public:
  BodyNumbers();

 private:
  friend class Closing;
  uint64_t placeholders_;  // numbers set aside, older than all that is made for the body
};

struct BodyRequest {
  std::string name;
  // Its first inputs: leaves (make_argument) that were made since `numbers`, or inputs of the body
  // that this one is derived from.
  std::vector<NodeRef> arguments;
  std::vector<NodeRef> roots;
  BodyNumbers numbers;
  // What was made meanwhile without depending on an argument is computed inside too, as what only a
  // chosen branch is to compute. Otherwise it stays outside: it is the same in every iteration.
  bool all_inside = false;
  const Body* derived_from = nullptr;
  const Body* with = nullptr;  // of which it has nodes too
};

struct ClosedBody {
  Ref<Body> body;
  std::vector<NodeRef> captured;  // what the inputs behind the arguments stand for
};

// What of it lies between its inputs `from` and some roots, which may be answers of a rule inside
// of it. Its constants, too: a node shared with another graph would be numbered in both at a time.
Subgraph piece_of(const Body& body, std::vector<NodeRef> roots, std::span<Node* const> from);

// Makes what lies between the arguments and the roots a body: in it, placeholders take the places
// of tensors from outside. Its nodes are changed, and are the body's from then on.
ClosedBody close_body(BodyRequest request);

// Whether a node was made for it.
bool is_of(const Body& body, const Node* node);

// --- the operations; see graph/operation.h

struct LoopRequest {
  LoopForm form;
  Ref<Body> body;
  // In the order of the body's inputs: what is carried, what is stacked, constants.
  std::vector<NodeRef> inputs;
  Ref<Body> condition;                       // where form.trips is kWhile
  std::vector<NodeRef> condition_constants;  // its inputs behind what is carried
  NodeRef count;                             // where form.trips is kCounted
  // Where what is stacked are residuals of a loop that runs again: see Operation.
  Ref<Body> replayed;
  std::vector<NodeRef> replayed_inputs;
  std::vector<int32_t> residuals, cotangents_of;
};
// Shapes and dtypes must fit. What the bodies do not read is left out.
NodeRef make_loop(LoopRequest request);

struct Choice {
  Ref<Body> body;
  std::vector<NodeRef> inputs;
};
// Runs choice `index` (int64, rank 0; the nearest one where there is none of that number). All have
// roots of the same types.
NodeRef make_branch(const NodeRef& index, std::span<const Choice> choices);

NodeRef output_of(const NodeRef& operation, size_t k);

}  // namespace pullback
