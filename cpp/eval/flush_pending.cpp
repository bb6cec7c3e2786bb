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
constexpr int64_t kMostIntermediate = 4;
// Products: at most this many entries.
constexpr int64_t kSmallProduct = 64;

// For each result: true if it depends on a value of at least twice its bytes that can be freed
// after all results are computed, and is cheap enough to compute.
std::vector<uint8_t> find_freeing(std::span<Node* const> results) {
  const Snapshot snapshot = take_snapshot(results);
  std::vector<uint8_t> is_result(snapshot.nodes.size(), 0);
  for (const Node* result : results) is_result[result->index] = 1;
  std::vector<int64_t> freed(snapshot.nodes.size(), 0);  // bytes of the largest value that can be
                                                         // freed
  std::vector<int64_t> intermediate(snapshot.nodes.size(), 0);  // bytes of the largest intermediate
                                                                // value
  for (size_t i = 0; i < freed.size(); ++i) {
    const Node* node = snapshot.nodes[i];
    if (is_input(node)) {
      if (node->value && !snapshot.outlives[i]) freed[i] = node->bytes();
      continue;
    }
    for (const Node* input : value_inputs(node)) {
      const uint32_t at = input->index;
      intermediate[i] = std::max(intermediate[i], intermediate[at]);
      // An intermediate value that is kept takes the place of the values below it.
      const bool replaced = snapshot.wanted[at] && !is_result[at];
      if (!replaced) freed[i] = std::max(freed[i], freed[at]);
    }
    const bool large_product =
        traits(node->op).cost == Cost::Heavy && node->shape.size() > kSmallProduct;
    intermediate[i] = large_product ? INT64_MAX : std::max(intermediate[i], node->bytes());
  }
  std::vector<uint8_t> out;
  for (const Node* result : results) {
    const uint32_t at = result->index;
    out.push_back(freed[at] >= 2 * result->bytes() &&
                  intermediate[at] <= kMostIntermediate * freed[at]);
  }
  return out;
}

}  // namespace

void flush_pending() {
  std::vector<NodeRef> results = take_pending_results();
  if (results.empty()) return;
  const std::vector<uint8_t> chosen = find_freeing(pointers(results));
  std::vector<NodeRef> due;
  std::vector<NodeRef> remaining;
  for (size_t i = 0; i < results.size(); ++i) (chosen[i] ? due : remaining).push_back(results[i]);
  put_back_pending(remaining);
  results.clear();
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
