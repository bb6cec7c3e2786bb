// rebuild: copies a subgraph onto other inputs.
//
// A Subgraph is the nodes between some inputs and some roots, oldest first, with their edges as
// numbers. rebuild() visits each node once; the visitor returns copy_node(), or another node that
// replaces it from then on. Nodes outside of the subgraph are shared by original and copy. Copies
// of closed graphs (graph/graph_copy.h) are all made by it. Start at Subgraph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/node.h"
#include "graph/walk.h"

namespace pullback {

struct Traced {
  bool operator()(const Node* node) const { return node->flags & kTraced; }
};

inline bool none_traced(std::span<const NodeRef> roots) {
  return std::ranges::none_of(roots, Traced(), &NodeRef::get);
}

class Subgraph {
 public:
  struct Entry {
    Node* node;                     // kept by the roots
    uint32_t edges = 0;             // where its links begin
    std::optional<uint32_t> input;  // its number among the inputs
  };

  Subgraph() = default;
  // An input may be null: then no node is that input. The subgraph consists of the inputs, the
  // nodes for which `belongs(node)` is true, and all nodes that depend on one of these. Only nodes
  // that are `within` are visited; no other node may depend on an input or belong to the subgraph.
  template <class Belongs, class Within = Traced>
  Subgraph(std::vector<NodeRef> roots, std::span<Node* const> inputs, Belongs&& belongs,
           Within&& within = {});

  size_t size() const { return entries_.size(); }
  const Entry& operator[](size_t i) const { return entries_[i]; }
  // Position of input k of entry i; kOutside if it is not in the subgraph.
  static constexpr int32_t kOutside = -1;
  int32_t link(size_t i, size_t k) const { return links_[entries_[i].edges + k]; }
  const std::vector<NodeRef>& roots() const { return roots_; }
  // Makes an entry without inputs one of the inputs, the last one of `inputs`.
  void make_input(size_t i, std::vector<NodeRef>* inputs) {
    entries_[i].input = static_cast<uint32_t>(inputs->size());
    inputs->emplace_back(entries_[i].node);
  }
  // Position of a root, or kOutside.
  int32_t root_at(size_t k) const { return root_at_[k]; }

  // Copies the roots onto `inputs`. `visit(i, node, inputs)` returns the node that replaces entry i
  // (whose node is `node`) for the replaced inputs. An input may be null; then everything that
  // depends on it is null.
  template <class Visit>
  std::vector<NodeRef> rebuild(std::span<const NodeRef> inputs, Visit&& visit) const;

 private:
  std::vector<Entry> entries_;
  std::vector<int32_t> links_;
  std::vector<NodeRef> roots_;
  std::vector<int32_t> root_at_;
};

// A node like `node`, with a number of its own, on other inputs of the same dtypes and shapes.
NodeRef copy_node(const Node* node, std::span<Node* const> inputs);

template <class Belongs, class Within>
Subgraph::Subgraph(std::vector<NodeRef> roots, std::span<Node* const> inputs, Belongs&& belongs,
                   Within&& within)
    : roots_(std::move(roots)) {
  std::unordered_map<const Node*, int32_t> input_at;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) input_at.try_emplace(inputs[i], static_cast<int32_t>(i));
  }
  std::vector<Node*> reached;
  walk(pointers(roots_), &reached, [&](const Node* node) {
    const bool below = within(node) && !input_at.contains(node);
    return below ? node->inputs() : std::span<Node* const>();
  });
  std::vector<int32_t> at(reached.size(), kOutside);
  for (size_t i = 0; i < reached.size(); ++i) {
    Node* node = reached[i];
    Entry entry{node, static_cast<uint32_t>(links_.size())};
    const auto input = input_at.find(node);
    bool part = input != input_at.end();
    if (part) {
      entry.input = input->second;
    } else if (within(node)) {
      part = belongs(node);
      for (const Node* below : node->inputs()) {
        links_.push_back(at[below->index]);
        part |= links_.back() != kOutside;
      }
    }
    if (!part) {
      links_.resize(entry.edges);
      continue;
    }
    at[i] = static_cast<int32_t>(entries_.size());
    entries_.push_back(entry);
  }
  for (const Node* top : pointers(roots_)) root_at_.push_back(at[top->index]);
}

template <class Visit>
std::vector<NodeRef> Subgraph::rebuild(std::span<const NodeRef> inputs, Visit&& visit) const {
  std::vector<NodeRef> made(entries_.size());
  std::vector<Node*> below;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.input) {
      made[i] = inputs[*entry.input];
      continue;
    }
    const auto originals = entry.node->inputs();
    below.clear();
    for (size_t k = 0; k < originals.size(); ++k) {
      const int32_t at = link(i, k);
      Node* input = at == kOutside ? originals[k] : made[at].get();
      if (!input) break;
      below.push_back(input);
    }
    if (below.size() == originals.size()) made[i] = visit(i, entry.node, std::span(below));
  }
  std::vector<NodeRef> out;
  for (size_t k = 0; k < roots_.size(); ++k) {
    out.push_back(root_at_[k] == kOutside ? roots_[k] : made[root_at_[k]]);
  }
  return out;
}

}  // namespace pullback
