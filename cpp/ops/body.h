// Bodies: closes a recorded subgraph (close_body), and makes the loop or branch that runs it
// (make_loop, make_branch).
//
// A body shares no node with the graph around it. Read graph/operation.h first, then BodyRequest.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

inline void append(std::vector<NodeRef>* to, const std::vector<NodeRef>& from) {
  to->insert(to->end(), from.begin(), from.end());
}

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
  // Tensors from outside that the last of `arguments` stand for: their values in every iteration.
  std::vector<NodeRef> values_of_last;
};

// A body and the tensors for its inputs.
struct BoundBody {
  Ref<Body> body;
  std::vector<NodeRef> inputs;
  size_t captured = 0;  // number of the last inputs that are not arguments
};

struct ClosedBody {
  Ref<Body> body;
  std::vector<NodeRef> captured;  // tensors for the inputs that follow the arguments

  BoundBody bind_to(std::vector<NodeRef> arguments) const {
    append(&arguments, captured);
    return {body, std::move(arguments), captured.size()};
  }
};

// Closes the nodes between the arguments and the roots. Placeholders replace tensors from outside.
// The nodes are modified and belong to the body afterwards.
ClosedBody close_body(BodyRequest request);

// --- the operations; see graph/operation.h

struct LoopRequest {
  LoopForm form;
  BoundBody body;       // carry, scanned inputs, constants
  BoundBody condition;  // if form.end is Condition; its inputs after the carry
  NodeRef count;        // if form.end is Count
  // If scanned inputs are residuals of a loop that is replayed: see Operation.
  BoundBody replayed;
  std::vector<int32_t> residuals, cotangents_of;
};
// Requires matching shapes and dtypes. Inputs that the bodies do not use are dropped.
NodeRef make_loop(LoopRequest request);

// Collects the parts of a loop derived from another one, in the order of its body's inputs and
// roots. Each argument of the body is added with the value that it has (a carry: initially).
struct DerivedLoop {
  std::vector<NodeRef> carries, initial_carries, next_carries;
  std::vector<NodeRef> scanned, scanned_values, stacked_roots;
  std::vector<NodeRef> constants, constant_values;

  void add_carry(NodeRef argument, NodeRef initial, NodeRef next) {
    carries.push_back(std::move(argument));
    initial_carries.push_back(std::move(initial));
    next_carries.push_back(std::move(next));
  }
  void add_scanned(NodeRef argument, NodeRef value) {
    scanned.push_back(std::move(argument));
    scanned_values.push_back(std::move(value));
  }
  void add_constant(NodeRef argument, NodeRef value) {
    constants.push_back(std::move(argument));
    constant_values.push_back(std::move(value));
  }
  // Closes the body, which was derived from `of` (and `with`, see BodyRequest) since `numbers`.
  // Sets the counts of the form.
  BoundBody close(const Body& of, const BodyNumbers& numbers, LoopForm* form,
                  const Body* with = nullptr);
};

// Runs choice number `index` (int64, rank 0, clipped to the valid range). The roots of all choices
// must have equal types.
NodeRef make_branch(const NodeRef& index, std::span<const BoundBody> choices);

NodeRef output_of(const NodeRef& operation, size_t k);

// The type of the entries of `count` iterations.
TensorType stacked(const Node* entry, int64_t count);

}  // namespace pullback
