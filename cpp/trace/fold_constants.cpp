// Finds the largest subgraphs that depend on constants alone, from the trace's own nodes downwards,
// and evaluates them together. Views, arrays of one repeated number, and values much larger than
// their inputs stay in the plan.
#include "trace/fold_constants.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "eval/evaluate.h"
#include "graph/walk.h"
#include "plan/passes/snapshot.h"

namespace pullback {
namespace {

// A folded value may be larger than its inputs by this many bytes.
constexpr int64_t kMaxGrowth = int64_t{64} << 20;

// A view that is free in a plan: its base is folded instead.
bool is_free_view(Op op) {
  return op == Op::identity || op == Op::stop_gradient || op == Op::reshape ||
         op == Op::transpose || op == Op::broadcast_to;
}

struct Constant {
  int64_t bytes_below = 0;  // of the values below; a value used twice counts twice
  bool uniform = false;     // one repeated number
};

std::vector<Constant> describe(std::span<Node* const> nodes) {
  std::vector<Constant> out(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node* node = nodes[i];
    if (is_input(node)) {
      out[i] = {node->bytes(), node->shape.size() == 1};
      continue;
    }
    const auto inputs = value_inputs(node);
    out[i].uniform =
        !inputs.empty() && (is_elementwise(node->op) || traits(node->op).cost == Cost::Free);
    for (const Node* input : inputs) {
      const Constant& below = out[input->index];
      out[i].bytes_below = std::min(out[i].bytes_below + below.bytes_below, INT64_MAX / 4);
      out[i].uniform &= below.uniform;
    }
  }
  return out;
}

}  // namespace

void fold_constants(std::span<Node* const> outside) {
  std::vector<Node*> nodes;
  walk(outside, &nodes, [](const Node* node) {
    return is_input(node) ? std::span<Node* const>() : value_inputs(node);
  });
  const std::vector<Constant> constants = describe(nodes);
  std::vector<uint8_t> candidate(nodes.size(), 0);
  for (const Node* node : outside) candidate[node->index] = 1;
  std::vector<Node*> folded;
  for (size_t i = nodes.size(); i-- > 0;) {
    Node* node = nodes[i];
    if (!candidate[i] || is_input(node) || is_operation(node->op)) continue;
    const Constant& constant = constants[i];
    if (constant.uniform && node->shape.size() > 1 && node->op != Op::read) continue;
    if (!is_free_view(node->op) && node->bytes() - constant.bytes_below <= kMaxGrowth) {
      folded.push_back(node);
      continue;
    }
    for (const Node* input : value_inputs(node)) candidate[input->index] = 1;
  }
  if (folded.empty()) return;
  try {
    evaluate(folded);
  } catch (const Error&) {
    // The failing subgraph stays in the plan, and each call reports the error.
  }
}

}  // namespace pullback
