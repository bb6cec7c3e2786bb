// What checkpoint() needs of the graph: the piece that a function has made, and copies of it on
// other inputs, so that its values are computed where they are needed instead of being kept.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "graph/node.h"

namespace pullback {

// A piece of graph: what lies between `roots` and the nodes that are older than `first`, leaves,
// and reads of variables.
struct RecordedSubgraph {
  std::vector<NodeRef> roots;
  uint64_t first = 0;

  // An object of Python that was made by __new__ alone is a piece, too: an empty one.
  static void* operator new(size_t size) { return ::new (::operator new(size)) RecordedSubgraph; }
  static void operator delete(void* piece) { ::operator delete(piece); }

  // What the piece is made on, as far as it is tracked: by creation.
  std::vector<NodeRef> inputs() const;
  // The roots once more, with `others` for the inputs. What lies between is never kept; the roots
  // are, or not either.
  std::vector<NodeRef> copy(std::span<const NodeRef> inputs, std::span<const NodeRef> others,
                            Keep keep_roots) const;

  // Nothing of it outlives an evaluation, but what somebody holds.
  void never_keep() const;

 private:
  struct On;
  class CopiedRule;
  class CopiedOperation;
  static std::vector<NodeRef> made_again(std::vector<NodeRef> roots, std::vector<Node*> from,
                                         std::vector<NodeRef> to,
                                         const std::shared_ptr<const On>& on);
  static NodeRef copied(const Node* node, std::span<Node* const> inputs,
                        const std::shared_ptr<const On>& on);
  bool inside(const Node* node) const;
  std::vector<Node*> nodes() const;
};

}  // namespace pullback
