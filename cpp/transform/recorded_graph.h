// RecordedGraph: the closed graph of operations that a function made, which Python copies onto
// other inputs: checkpoint(), linearize() and implicit functions. The copies of a checkpoint
// compute its values again where they are needed, so they are not stored.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "graph/closed_graph.h"
#include "graph/rebuild.h"

namespace pullback {

class RecordedGraph {
 public:
  // Constructs an empty graph, since Python's __new__ allocates without running a constructor.
  static void* operator new(size_t size) { return ::new (::operator new(size)) RecordedGraph; }
  static void operator delete(void* graph) { ::operator delete(graph); }
  RecordedGraph() = default;

  // The operations between the placeholders `at` and the roots; all other inputs are shared. With
  // `first`: all operations below the roots with that number or a later one; they begin at `at`, at
  // older nodes, at leaves and at reads of variables.
  RecordedGraph(std::vector<NodeRef> roots, std::vector<NodeRef> at, std::optional<uint64_t> first);

  // The tracked inputs from outside, by creation number.
  const std::vector<NodeRef>& others() const { return others_; }
  // Copies the roots onto other inputs, in place of `at` and then of others(). With `keep_roots`,
  // values inside are never kept after an evaluation, and it decides for the roots.
  std::vector<NodeRef> copy(std::vector<NodeRef> inputs, std::optional<Keep> keep_roots) const;

  // Marks every node as not to be kept after an evaluation, except by references from outside.
  void never_keep() const;
  // Bytes of all its tensors.
  int64_t bytes() const;

 private:
  void find_others();

  Ref<ClosedGraph> graph_;  // null: empty, and without memory, since __init__ constructs it anew
  std::vector<NodeRef> others_;
  Subgraph nodes_;
};

}  // namespace pullback
