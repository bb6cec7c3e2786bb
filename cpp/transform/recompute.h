// Recomputation, for checkpoint(): RecordedSubgraph is the subgraph that a function made. Copies of
// it on other inputs compute its values again where they are needed, so they are not stored.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "graph/node.h"

namespace pullback {

// The nodes between `roots` and the inputs: nodes older than `first`, leaves, and reads of
// variables.
struct RecordedSubgraph {
  std::vector<NodeRef> roots;
  uint64_t first = 0;

  // Constructs an empty subgraph, since Python's __new__ allocates without running a constructor.
  static void* operator new(size_t size) { return ::new (::operator new(size)) RecordedSubgraph; }
  static void operator delete(void* subgraph) { ::operator delete(subgraph); }

  // The tracked inputs, by creation number.
  std::vector<NodeRef> inputs() const;
  // Copies the roots, with `others` in place of `inputs`. Values inside are never kept after an
  // evaluation; `keep_roots` decides for the roots.
  std::vector<NodeRef> copy(std::span<const NodeRef> inputs, std::span<const NodeRef> others,
                            Keep keep_roots) const;

  // Marks every node as not to be kept after an evaluation, except by references from outside.
  void never_keep() const;

 private:
  struct On;
  class CopiedRule;
  class CopiedOperation;
  static std::vector<NodeRef> rebind(std::vector<NodeRef> roots, std::vector<Node*> from,
                                     std::vector<NodeRef> to, const std::shared_ptr<const On>& on);
  static NodeRef copied(const Node* node, std::span<Node* const> inputs,
                        const std::shared_ptr<const On>& on);
  bool inside(const Node* node) const;
  std::vector<Node*> nodes() const;
};

}  // namespace pullback
