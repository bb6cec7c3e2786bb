// Evaluates how many iterations each loop ran, unrolls the loops and branches, and copies the rest
// of the graph onto the unrolled operations.
#include "explain/unrolled_below.h"

#include <algorithm>
#include <unordered_map>

#include "eval/evaluate.h"
#include "graph/make.h"
#include "graph/rebuild.h"
#include "graph/walk.h"
#include "ops/body.h"

namespace pullback {
namespace {

// The tensor with the number of iterations of a loop, or with the chosen branch. Null if the number
// is fixed; it is then stored in `known`.
NodeRef number_of(const NodeRef& operation, int64_t* known) {
  if (operation->op == Op::branch) return NodeRef(operation->inputs()[0]);
  const LoopForm& form = operation->operation->loop;
  *known = form.trips;
  if (form.has_trips()) return nullptr;
  const size_t count = operation->operation->bodies[0]->roots.size();
  return form.end == LoopEnd::Condition ? output_of(operation, count)
                                        : NodeRef(operation->inputs().back());
}

// The numbers that are known. Inside a trace a loop has no number yet; as many iterations as it has
// carries are enough, because a gradient that exists at all exists after so many.
std::unordered_map<const Node*, int64_t> numbers_of(std::span<const NodeRef> operations) {
  std::unordered_map<const Node*, int64_t> out;
  std::vector<std::pair<const Node*, NodeRef>> unknown;
  std::vector<NodeRef> roots;
  for (const NodeRef& operation : operations) {
    int64_t known = 0;
    const NodeRef number = number_of(operation, &known);
    if (number == nullptr) {
      out[operation.get()] = known;
    } else if (!(number->flags & kTraced)) {
      unknown.emplace_back(operation.get(), number);
      roots.push_back(number);
    } else if (operation->op == Op::loop) {
      out[operation.get()] = operation->operation->loop.carries;
    }
  }
  evaluate(pointers(roots));
  for (const auto& [operation, number] : unknown) {
    const int64_t at = load_scalar(number->dtype, read_back(number.get())->host()).i;
    const auto bodies = static_cast<int64_t>(operation->operation->bodies.size());
    const int64_t most = operation->op == Op::branch ? bodies - 1 : INT64_MAX;
    out[operation] = std::clamp<int64_t>(at, 0, most);
  }
  return out;
}

using Flags = std::vector<uint8_t>;

// For each operation, which of its outputs are used.
std::unordered_map<const Node*, Flags> wanted_of(
    const Subgraph& subgraph, const std::unordered_map<const Node*, int64_t>& numbers) {
  std::unordered_map<const Node*, Flags> out;
  for (size_t i = 0; i < subgraph.size(); ++i) {
    const Node* node = subgraph[i].node;
    const Node* operation = node->op == Op::output ? operation_of(node) : nullptr;
    if (!numbers.contains(operation)) continue;
    Flags& flags = out[operation];
    flags.resize(operation->operation->outputs.size());
    flags[node->output] = 1;
  }
  return out;
}

}  // namespace

UnrolledBelow unrolled_below(const NodeRef& y, std::span<const NodeRef> operations,
                             std::span<const NodeRef> ends) {
  const auto numbers = numbers_of(operations);
  const Subgraph subgraph(
      {y}, pointers(ends), [&](const Node* node) { return numbers.contains(node); },
      [](const Node* node) { return node->tracked() || node->flags & kTraced; });
  const auto wanted = wanted_of(subgraph, numbers);
  UnrolledBelow out;
  std::unordered_map<const Node*, std::vector<NodeRef>> outputs;
  const std::vector<NodeRef> given(ends.begin(), ends.end());
  const auto made = subgraph.rebuild(given, [&](size_t, Node* node, std::span<Node* const> on) {
    if (const auto flags = wanted.find(node); flags != wanted.end()) {
      const int64_t number = numbers.at(node);
      if (auto found = unrolled(node, on, number, flags->second)) {
        outputs[node] = std::move(found->outputs);
        out.unrolled.push_back({NodeRef(node), number, std::move(found->parts)});
        return NodeRef(node);
      }
    }
    if (node->op == Op::output) {
      const auto at = outputs.find(operation_of(node));
      if (at != outputs.end()) return at->second[node->output];
    }
    NodeRef copy = copy_node(node, on);
    out.copies.emplace_back(copy->seq, node->seq);
    return copy;
  });
  out.y = made[0];
  return out;
}

}  // namespace pullback
