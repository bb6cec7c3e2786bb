// Connectivity: which nodes a gradient passes, and how it leaves each of them. Made by one walk
// below ys, bounded by stops, tapes and the oldest x, and one scan forward.
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

// Holds nodes as one that has them as inputs would: masks and plans ask who else holds them.
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

  // How cotangents leave a node: by a rule, or by its own row.
  struct Exit {
    Ref<Rule> rule;
    std::span<Node* const> inputs;
  };

  Exit exit_of(const Node* node) const;

  // The xs of the request. A result of a traced call that other results are made from is replaced
  // by its node inside of the call, which all of them share.
  const std::vector<Source>& xs() const { return xs_; }

  // What is below ys, inputs first.
  const std::vector<Node*>& nodes() const { return nodes_; }
  // The number of a node; kAbsent where the walk ended above it: older than every x, or stopped.
  size_t position(const Node* node) {
    const bool numbered = node->index < nodes_.size() && nodes_[node->index] == node;
    return numbered ? node->index : find(node);
  }
  static constexpr size_t kAbsent = static_cast<size_t>(-1);

  // Of a node by its number: whether it depends on an x, whether it is one, and what it makes of
  // structural zeros.
  bool live(size_t at) const { return live_[at]; }
  bool is_x(size_t at) const { return is_x_[at]; }
  Zeros zeros(size_t at) const { return zeros_[at]; }
  bool stopped(const Node* node) const;
  // By its dtype, as far as that says it.
  bool differentiable(const Node* node) const;
  // Whether `input` counts as an input of `node`: under a tape only if it descends from something
  // that was watched before the node was made.
  bool feeds(const Node* input, const Node* node);

  // Adds what is below `root`, for questions without a tape. What was made since and computes the
  // same as an older node has the number of that one. Returns the number of `root`. All is kept
  // alive from now on.
  size_t extend(Node* root);
  // Adds a leaf as one that an x moves.
  size_t add_leaf(const NodeRef& node);

 private:
  size_t find(const Node* node);
  void fill_table();
  void start_expressions();
  bool ends(const Node* node) const;
  void collect();
  void build_histories(std::vector<Node*> pending) const;
  uint64_t oldest_of(const Source& x) const;
  void share_results();
  void refuse_lost_histories(size_t begin) const;
  void connect(size_t begin);

  const GradientRequest& request_;
  std::vector<Source> xs_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> position_;
  std::unique_ptr<CommonSubexpressions> expressions_;  // once it has been extended
  Uses used_;                                          // of all that the walk found
  std::vector<NodeRef> held_;                          // once it has been extended: all there are
  // Inputs of the stop_gradients that an override makes part of the graph: once computed, such a
  // node has none.
  std::unordered_map<const Node*, Node*> stops_;
  uint64_t made_from_ = 0;  // what comes later is new
  std::unordered_set<const Node*> stopped_nodes_;
  std::unordered_set<uint64_t> stopped_variables_;
  uint64_t oldest_ = 0;  // nodes up to this number depend on no x
  std::vector<uint8_t> live_, watched_, is_x_;
  std::vector<Zeros> zeros_;
};

// Whether that is the library's own rule of a composite.
inline bool is_own(const Connectivity::Exit& exit, const Node* node) {
  return exit.rule && exit.rule == node->rule && exit.rule->of_library;
}

}  // namespace pullback
