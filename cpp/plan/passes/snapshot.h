// Snapshot: the pending subgraph of one evaluation, numbered, with its key. The first step of
// planning; every pass reads it.
//
// The key holds everything the plan depends on and nothing else: operations, attributes, dtypes,
// shapes, edges, which results are wanted, the device, the constants of our own formulas, known
// positions. Values of other leaves and scalars are arguments. A snapshot has plain pointers to
// nodes, so it must not live across a release of the interpreter lock. Start at take_snapshot().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/node.h"
#include "plan/passes/known_positions.h"

namespace pullback {

// An assignment of a traced function to a variable: the argument that stands for the old value, and
// the new value. The old value ends with the call unless the program holds it.
struct Replacement {
  Node* old_value;
  Node* new_value;
};

struct Snapshot {
  std::vector<Node*> nodes;         // inputs before users, leaves late; Node::index is the position
  std::vector<uint8_t> wanted;      // per node: 1 if its value leaves the plan
  std::vector<uint8_t> outlives;    // per node, with `keep`: 1 if it may be needed after the run
  std::vector<uint32_t> arguments;  // positions of the leaves with a buffer
  std::vector<uint32_t> scalars;    // positions of the scalar leaves, except constants
  std::vector<uint32_t> outputs;    // positions of the wanted nodes
  // By position: the known positions of a node that takes or writes entries, if it is traced.
  std::unordered_map<uint32_t, std::vector<PositionRun>> positions;
  // For each replacement: its places among the arguments and among the outputs. An argument that no
  // node reads is listed too.
  std::vector<std::pair<uint32_t, uint32_t>> replaced;
  std::vector<unsigned char> key;
  uint64_t hash = 0;
  bool traced = false;
  bool has_sites = false;  // in its key too: the plan names the lines of the program
  Device device;           // of all its nodes

  std::span<const PositionRun> known_positions_of(uint32_t i) const {
    const auto found = positions.find(i);
    return found == positions.end() ? std::span<const PositionRun>() : found->second;
  }
  void find_positions(const Node* node) {
    if (auto known = known_positions(node); !known.empty()) {
      positions.emplace(node->index, std::move(known));
    }
  }
  // While no other walk has numbered the node.
  bool has(const Node* node) const {
    return node->index < nodes.size() && nodes[node->index] == node;
  }
  // The number that every entry of a leaf is, if the plan depends on it; it is in the key. In a
  // trace these are floats, which keep the value of the first call, and small masks that are true
  // everywhere or false everywhere. Integers stay arguments, because seeds and counters of random
  // draws change.
  std::optional<Scalar> constant_of(const Node* leaf) const;
};

// Small constant arrays of a trace by their entries. Programs make the same index or mask anew in
// each call of a helper function; as one leaf, all that is computed with it is computed once.
class EqualLeaves {
 public:
  // Numbers a leaf like an earlier one with the same dtype, shape and entries; false if none has.
  bool number(Node* leaf);

 private:
  std::unordered_multimap<uint64_t, const Node*> leaves_;  // by hash
};

// True if a snapshot ends at this node.
inline bool is_input(const Node* node) { return node->has_value() || node->op == Op::argument; }

// Numbers the nodes that must be computed for `roots`. A root that has a value is left out. Unless
// `traced`, values that later evaluations need are wanted too (see mark_kept), so that a value that
// the program holds is computed at most once. Inside a traced function no value is held. `device`
// is the one of the plan if the nodes are on any; the default is that of the thread.
Snapshot take_snapshot(std::span<Node* const> roots, bool traced = false,
                       std::span<const Replacement> replacements = {}, Device device = kAnyDevice);

}  // namespace pullback
