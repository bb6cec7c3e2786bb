// Connectivity: the nodes that a gradient passes, and the edges by which it leaves each of them.
// Made by one walk below ys, bounded by stops, tapes and the oldest x, and one scan forward. A node
// has a number, its position in nodes(); other properties are read by that number. Under the
// interpreter lock. Start at nodes(), backward_edges() and live().
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grad/reverse.h"
#include "grad/zeros/masks.h"
#include "graph/common_subexpressions.h"

namespace pullback {

// Counts as a user of nodes, as a node would that has them as inputs; masks and plans read that
// count.
class Uses {
 public:
  Uses() = default;
  ~Uses();
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;
  void add(const std::vector<Node*>& nodes);

 private:
  std::vector<Node*> nodes_;
};

class Connectivity {
 public:
  explicit Connectivity(const GradientRequest& request);

  // The inputs that receive cotangents from a node, and the rule that computes these; null: the
  // operation's own row.
  struct BackwardEdges {
    Ref<Rule> rule;
    std::span<Node* const> inputs;

    // True if the cotangent goes to the operation of which the node is an output.
    bool of_output() const { return !rule && inputs.size() == 1 && is_operation(inputs[0]->op); }
  };

  BackwardEdges backward_edges(const Node* node) const;

  // The xs of the request. If a result of a traced call is an x and other results depend on it, it
  // is replaced by its node inside of the call, which all results share.
  const std::vector<Source>& xs() const { return xs_; }

  // The nodes below ys, inputs first.
  const std::vector<Node*>& nodes() const { return nodes_; }
  // The number of a node; kAbsent if the walk ended above it: older than every x, or stopped.
  size_t position(const Node* node) {
    const bool numbered = node->index < nodes_.size() && nodes_[node->index] == node;
    return numbered ? node->index : find(node);
  }
  static constexpr size_t kAbsent = static_cast<size_t>(-1);

  // Properties of a node by its number: depends on an x, is an x, needs structural zeros.
  bool live(size_t at) const { return live_[at]; }
  bool is_x(size_t at) const { return is_x_[at]; }
  Zeros zeros(size_t at) const { return zeros_[at]; }
  bool stopped(const Node* node) const;
  // As far as the dtype decides.
  bool differentiable(const Node* node) const;
  // True if `input` counts as an input of `node`. Under a tape, only if it depends on a tensor that
  // was watched before the node was made.
  bool feeds(const Node* input, const Node* node);

  // Adds the nodes below `root` and returns the number of `root`; for requests without a tape. A
  // new node that is equal to an older one gets its number. From now on all nodes are kept alive.
  size_t extend(Node* root);
  // Adds a leaf that depends on an x.
  size_t add_leaf(const NodeRef& node);

 private:
  size_t find(const Node* node);
  void fill_table();
  void start_expressions();
  bool ends(const Node* node) const;
  void collect();
  void build_histories(std::span<Node* const> roots) const;
  uint64_t oldest_of(const Source& x) const;
  void share_results();
  void refuse_lost_histories(size_t begin) const;
  void connect(size_t begin);

  const GradientRequest& request_;
  std::vector<Source> xs_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> position_;
  std::unique_ptr<CommonSubexpressions> expressions_;  // after the first extend()
  Uses used_;                                          // of all nodes that the walk found
  std::vector<NodeRef> held_;                          // after the first extend(): all nodes
  // The input of each stop_gradient that an override makes part of the graph; a computed one has
  // dropped it.
  std::unordered_map<const Node*, Node*> stops_;
  uint64_t first_new_ = 0;  // nodes from this number on are new
  std::unordered_set<const Node*> stopped_nodes_;
  std::unordered_set<uint64_t> stopped_variables_;
  uint64_t oldest_ = 0;  // nodes up to this number depend on no x
  std::vector<uint8_t> live_, watched_, is_x_;
  std::vector<Zeros> zeros_;
};

// True if the rule is the library's own rule of a composite.
inline bool is_own(const Connectivity::BackwardEdges& edges, const Node* node) {
  return edges.rule && edges.rule == node->rule && edges.rule->of_library;
}

}  // namespace pullback
