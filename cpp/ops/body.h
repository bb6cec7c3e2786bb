// Bodies: closes a recorded subgraph (close_body), and makes the loop or branch that runs it
// (make_loop, make_branch).
//
// A body shares no node with the graph around it. Read graph/operation.h first, then BodyRequest.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

// Reserves creation numbers for a body that will be closed. Construct it before recording.
class BodyNumbers {
 public:
  BodyNumbers();

 private:
  friend class Closing;
  uint64_t placeholders_;  // first of the reserved numbers: older than all nodes of the body
};

struct BodyRequest {
  std::string name;
  // The first inputs of the body: leaves (make_argument) made since `numbers`, or inputs of the
  // body from which this one is derived.
  std::vector<NodeRef> arguments;
  std::vector<NodeRef> roots;
  BodyNumbers numbers;
  // If true, nodes that do not depend on an argument are computed inside too: the nodes of a branch
  // must be computed only if it is chosen. If false they stay outside, as they are equal in every
  // iteration.
  bool all_inside = false;
  const Body* derived_from = nullptr;
  const Body* with = nullptr;  // a second body whose nodes occur
};

struct ClosedBody {
  Ref<Body> body;
  std::vector<NodeRef> captured;  // tensors for the inputs that follow the arguments
};

// Closes the nodes between the arguments and the roots. Placeholders replace tensors from outside.
// The nodes are modified and belong to the body afterwards.
ClosedBody close_body(BodyRequest request);

// --- the operations; see graph/operation.h

struct LoopRequest {
  LoopForm form;
  Ref<Body> body;
  // In the order of the body's inputs: carry, scanned inputs, constants.
  std::vector<NodeRef> inputs;
  Ref<Body> condition;                       // if form.trips is kWhile
  std::vector<NodeRef> condition_constants;  // its inputs after the carry
  NodeRef count;                             // if form.trips is kCounted
  // If scanned inputs are residuals of a loop that is replayed: see Operation.
  Ref<Body> replayed;
  std::vector<NodeRef> replayed_inputs;
  std::vector<int32_t> residuals, cotangents_of;
};
// Requires matching shapes and dtypes. Inputs that the bodies do not read are dropped.
NodeRef make_loop(LoopRequest request);

struct Choice {
  Ref<Body> body;
  std::vector<NodeRef> inputs;
};
// Runs choice number `index` (int64, rank 0, clipped to the valid range). The roots of all choices
// must have equal types.
NodeRef make_branch(const NodeRef& index, std::span<const Choice> choices);

NodeRef output_of(const NodeRef& operation, size_t k);

}  // namespace pullback
