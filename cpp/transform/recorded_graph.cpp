// Closes recorded operations, and copies them.
#include "transform/recorded_graph.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/graph_copy.h"
#include "graph/make.h"
#include "graph/walk.h"

namespace pullback {

RecordedGraph::RecordedGraph(std::vector<NodeRef> roots, std::vector<NodeRef> at,
                             std::optional<uint64_t> first)
    : graph_(new ClosedGraph(first ? ClosedGraph::Extent::Recorded : ClosedGraph::Extent::Traced)) {
  graph_->roots = std::move(roots);
  graph_->inputs = std::move(at);
  if (first) {
    graph_->made = {{*first, next_seq()}};
    find_others();
  }
  nodes_ = graph_->between(graph_->roots, pointers(graph_->inputs));
}

void RecordedGraph::find_others() {
  std::vector<NodeRef>& inputs = graph_->inputs;
  const auto at = pointers(inputs);
  std::vector<Node*> nodes;
  walk(pointers(graph_->roots), &nodes, [&](const Node* node) {
    return graph_->may_copy(node) ? node->inputs() : std::span<Node* const>();
  });
  for (Node* node : nodes) {
    if (graph_->may_copy(node) || !node->tracked()) continue;
    if (std::ranges::find(at, node) == at.end()) others_.emplace_back(node);
  }
  inputs.insert(inputs.end(), others_.begin(), others_.end());
}

std::vector<NodeRef> RecordedGraph::copy(std::vector<NodeRef> inputs,
                                         std::optional<Keep> keep_roots) const {
  if (!graph_) fail(ErrorKind::Runtime, "ClosedGraph: __init__ was not called");
  if (inputs.size() != graph_->inputs.size()) {
    fail(ErrorKind::Value, "ClosedGraph: expected ", static_cast<int64_t>(graph_->inputs.size()),
         " tensors, got ", static_cast<int64_t>(inputs.size()));
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Node& given = *inputs[k];
    const Node& recorded = *graph_->inputs[k];
    if (given.dtype != recorded.dtype || given.shape != recorded.shape) {
      fail(ErrorKind::Type, "ClosedGraph: expected ", name_of(recorded.dtype), " of shape ",
           recorded.shape, " for input ", static_cast<int64_t>(k), ", got ", name_of(given.dtype),
           " of shape ", given.shape);
    }
  }
  const NoOverrides none;
  const Ref<GraphCopy> made(new GraphCopy(graph_, std::move(inputs)));
  std::vector<NodeRef> roots =
      nodes_.rebuild(made->inputs(), [&](size_t, const Node* node, std::span<Node* const> on) {
        NodeRef copy = made->copy(node, on);
        if (keep_roots) copy->attr.keep = Keep::Never;
        return copy;
      });
  for (size_t k = 0; k < roots.size() && keep_roots; ++k) {
    if (graph_->may_copy(graph_->roots[k].get())) roots[k]->attr.keep = *keep_roots;
  }
  return roots;
}

void RecordedGraph::never_keep() const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].input) nodes_[i].node->attr.keep = Keep::Never;
  }
}

int64_t RecordedGraph::bytes() const {
  int64_t sum = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) sum += nodes_[i].node->bytes();
  return sum;
}

}  // namespace pullback
