// Which nodes belong to a closed graph.
#include "graph/closed_graph.h"

#include <algorithm>

#include "graph/rebuild.h"

namespace pullback {

void add_ref(ClosedGraph* graph) { ++graph->refs; }
void release(ClosedGraph* graph) {
  if (--graph->refs == 0) delete graph;
}

bool ClosedGraph::owns(const Node* node) const {
  return std::ranges::any_of(made, [&](const auto& numbers) {
    return node->seq >= numbers.first && node->seq < numbers.second;
  });
}

bool ClosedGraph::may_copy(const Node* node) const {
  switch (extent) {
    case Extent::Traced:
      return (node->flags & kTraced) != 0;
    case Extent::Body:
      return node->flags & kTraced || owns(node);
    case Extent::Recorded: {
      // An output node made later than its operation is an input if the operation is older than
      // the graph. Reverse passes make such outputs: residuals of a loop, vectors of a
      // factorisation.
      const uint64_t first = made[0].first;
      const Node* operation = operation_of(node);
      if (operation && operation->seq < first) return false;
      return node->seq >= first && node->inputs_count > 0 && node->op != Op::read;
    }
  }
  return false;
}

Subgraph ClosedGraph::between(std::vector<NodeRef> some, std::span<Node* const> from) const {
  return Subgraph(
      std::move(some), from, [&](const Node* node) { return owns(node); },
      [&](const Node* node) { return may_copy(node); });
}

}  // namespace pullback
