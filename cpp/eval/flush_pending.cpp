// Evaluates pending small results where that frees more memory than it takes: if a value below them
// is needed by nothing else. One snapshot of all pending results finds these values.
#include "eval/flush_pending.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "eval/evaluate.h"
#include "graph/pending_results.h"
#include "graph/walk.h"
#include "plan/passes/snapshot.h"

namespace pullback {
namespace {

// Results per plan. Fixed, so that a long loop uses the same plan again.
constexpr size_t kTogether = 64;
// Limits for work that the program has not requested. Intermediate values: at most this many times
// the freed bytes.
constexpr int64_t kMostOnTheWay = 4;
// Products: at most this many entries.
constexpr int64_t kSmallProduct = 64;

std::vector<Node*> pointers(std::span<const NodeRef> nodes) {
  std::vector<Node*> out;
  for (const NodeRef& node : nodes) out.push_back(node.get());
  return out;
}

// For each result: true if it depends on a value of at least twice its bytes that can be freed
// after all results are computed, and is cheap enough to compute.
std::vector<uint8_t> that_free(std::span<Node* const> parts) {
  const Snapshot snapshot = take_snapshot(parts);
  std::vector<uint8_t> is_part(snapshot.nodes.size(), 0);
  for (const Node* part : parts) is_part[part->index] = 1;
  std::vector<int64_t> freed(snapshot.nodes.size(), 0);  // bytes of the largest value that can be
                                                         // freed
  std::vector<int64_t> on_the_way(snapshot.nodes.size(), 0);  // bytes of the largest intermediate
                                                              // value
  for (size_t i = 0; i < freed.size(); ++i) {
    const Node* node = snapshot.nodes[i];
    if (is_input(node)) {
      if (node->value && !snapshot.outlives[i]) freed[i] = node->bytes();
      continue;
    }
    for (const Node* input : value_inputs(node)) {
      const uint32_t at = input->index;
      on_the_way[i] = std::max(on_the_way[i], on_the_way[at]);
      // An intermediate value that is kept takes the place of the values below it.
      const bool replaced = snapshot.wanted[at] && !is_part[at];
      if (!replaced) freed[i] = std::max(freed[i], freed[at]);
    }
    const bool large_product =
        traits(node->op).cost == Cost::Heavy && node->shape.size() > kSmallProduct;
    on_the_way[i] = large_product ? INT64_MAX : std::max(on_the_way[i], node->bytes());
  }
  std::vector<uint8_t> out;
  for (const Node* part : parts) {
    const uint32_t at = part->index;
    out.push_back(freed[at] >= 2 * part->bytes() && on_the_way[at] <= kMostOnTheWay * freed[at]);
  }
  return out;
}

}  // namespace

void flush_pending() {
  std::vector<NodeRef> parts = take_pending_results();
  if (parts.empty()) return;
  const std::vector<uint8_t> chosen = that_free(pointers(parts));
  std::vector<NodeRef> due;
  std::vector<NodeRef> remaining;
  for (size_t i = 0; i < parts.size(); ++i) (chosen[i] ? due : remaining).push_back(parts[i]);
  put_back_pending(remaining);
  parts.clear();
  remaining.clear();
  for (size_t i = 0; i < due.size(); i += kTogether) {
    const auto some = std::span(due).subspan(i, std::min(kTogether, due.size() - i));
    try {
      evaluate(pointers(some));
    } catch (const Error&) {  // evaluates them one by one: some may succeed
      for (const NodeRef& node : some) {
        try {
          evaluate(node.get());
        } catch (const Error&) {
          continue;
        }
      }
    }
  }
}

}  // namespace pullback
