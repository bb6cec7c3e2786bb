// ClosedGraph: the nodes between some inputs and some roots, recorded once and copied onto other
// inputs. Traced functions, bodies of loops and branches, checkpoints and linearised functions are
// closed graphs. Their copies are in graph/graph_copy.h.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/node.h"

namespace pullback {

class Subgraph;  // graph/rebuild.h

struct ClosedGraph {
  // The nodes that a copy replaces if they are its own or depend on an input. It shares all others
  // with the original.
  enum class Extent : uint8_t {
    Traced,    // traced nodes: constants are shared
    Body,      // traced nodes and all of its own: a body shares no node with the graph around it
    Recorded,  // operations made since its first number, traced or not; reads are shared
  };

  explicit ClosedGraph(Extent extent) : extent(extent) {}
  virtual ~ClosedGraph() = default;
  ClosedGraph(const ClosedGraph&) = delete;
  ClosedGraph& operator=(const ClosedGraph&) = delete;

  // True if the node was made for this graph.
  bool owns(const Node* node) const;
  // True if a copy may replace the node; see Extent.
  bool may_copy(const Node* node) const;
  // The nodes to copy between `from` and some roots, which may be results of a rule that was
  // applied inside.
  Subgraph between(std::vector<NodeRef> roots, std::span<Node* const> from) const;

  int64_t refs = 0;
  const Extent extent;
  bool holds_rules = false;  // of users, here or in a body inside
  // Placeholders and captured tensors. Null for a variable that a trace does not read.
  std::vector<NodeRef> inputs;
  std::vector<NodeRef> roots;
  // Half-open ranges of the creation numbers of its nodes.
  std::vector<std::pair<uint64_t, uint64_t>> made;
};

void add_ref(ClosedGraph* graph);
void release(ClosedGraph* graph);

}  // namespace pullback
