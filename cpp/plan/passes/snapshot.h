// Snapshot: the pending piece of graph that one evaluation is about, numbered, with its key.
//
// The key holds everything the plan depends on and nothing else: operations, attributes, dtypes,
// shapes, which inputs, which results are wanted, the constants of our own formulas. Values of
// leaves and of other scalars are arguments.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/node.h"

namespace pullback {

// What a traced function assigns to a variable: the argument that stands for its value before, and
// the new value. Nobody asks for the old one after the call, unless they hold it.
struct Replacement {
  Node* old_value;
  Node* new_value;
};

struct Snapshot {
  std::vector<Node*> nodes;         // inputs before users, leaves late; Node::index is the position
  std::vector<uint8_t> wanted;      // per node: 1 where its value leaves the plan
  std::vector<uint8_t> outlives;    // per node, with `keep`: 1 where somebody may still ask for it
  std::vector<uint32_t> arguments;  // positions of the leaves with a buffer
  std::vector<uint32_t> scalars;    // positions of the scalar leaves that are no constants
  std::vector<uint32_t> outputs;    // positions of the wanted nodes
  // Of each replacement: places among the arguments and among the outputs. An argument that nothing
  // reads is one all the same.
  std::vector<std::pair<uint32_t, uint32_t>> replaced;
  std::vector<unsigned char> key;
  uint64_t hash = 0;
  bool traced = false;

  // In a trace every number is what it was when the function was traced. Integers stay arguments:
  // random draws want theirs so.
  bool is_constant(const Node* scalar) const {
    return scalar->flags & kConstant || (traced && is_float(scalar->dtype));
  }
};

// Whether a node is where a snapshot ends.
inline bool is_input(const Node* node) { return node->has_value() || node->op == Op::argument; }

// Numbers what must be computed for `roots`. A root that has a value is left out.
// Unless `traced`, values that will be asked for again are wanted too (see mark_kept), so that a
// value that somebody holds is computed at most once; nobody holds what is inside a traced
// function.
Snapshot take_snapshot(std::span<Node* const> roots, bool traced = false,
                       std::span<const Replacement> replacements = {});

}  // namespace pullback
