// A part is computed unasked where that frees more than it takes: the values at the bottom that
// nothing outlives which is not computed with it. A snapshot of all parts says which those are.
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

// Of one plan: loops that go on have the same one again and again.
constexpr size_t kTogether = 64;
// Work that nobody has asked for: values on the way so many times as large as what is freed, …
constexpr int64_t kMostOnTheWay = 4;
// … and a product of more entries than these.
constexpr int64_t kSmallProduct = 64;

std::vector<Node*> pointers(std::span<const NodeRef> nodes) {
  std::vector<Node*> out;
  for (const NodeRef& node : nodes) out.push_back(node.get());
  return out;
}

// For each part whether it is made from a value, of at least twice its bytes, that dies when all
// parts are computed, at no great expense.
std::vector<uint8_t> that_free(std::span<Node* const> parts) {
  const Snapshot snapshot = take_snapshot(parts);
  std::vector<uint8_t> is_part(snapshot.nodes.size(), 0);
  for (const Node* part : parts) is_part[part->index] = 1;
  std::vector<int64_t> freed(snapshot.nodes.size(), 0);  // the bytes of the largest such value, …
  std::vector<int64_t> on_the_way(snapshot.nodes.size(), 0);  // … of the largest that is computed
  for (size_t i = 0; i < freed.size(); ++i) {
    const Node* node = snapshot.nodes[i];
    if (is_input(node)) {
      if (node->value && !snapshot.outlives[i]) freed[i] = node->bytes();
      continue;
    }
    for (const Node* input : value_inputs(node)) {
      const uint32_t at = input->index;
      on_the_way[i] = std::max(on_the_way[i], on_the_way[at]);
      // What is computed on the way and kept takes the place of what is below it.
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
    } catch (const Error&) {  // those that can be computed are, one by one
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
