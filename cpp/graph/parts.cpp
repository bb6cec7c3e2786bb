// The list, and when it is time to go through it: like a garbage collection, when there are as many
// new parts as remained the last time, so that one is looked at a few times at most.
#include "graph/parts.h"

#include <algorithm>
#include <utility>

namespace pullback {
namespace {

// Of fewer parts, or of parts of less, nobody would notice the memory …
constexpr size_t kFewParts = 8;
constexpr int64_t kFewBytes = int64_t{1} << 20;
constexpr size_t kManyParts = 1024;  // … but of so many the nodes

struct Parts {
  std::vector<NodeHandle> listed;
  size_t remained = 0;    // of these, those that were looked at before
  int64_t new_bytes = 0;  // that the others are made from
};
Parts parts;

// Of the largest value that a node is made from.
int64_t bytes_below(const Node* node) {
  int64_t bytes = 0;
  for (const Node* input : node->inputs()) bytes = std::max(bytes, input->bytes());
  return bytes;
}

}  // namespace

void note_part(Node* node) {
  const int64_t below = bytes_below(node);
  if (2 * node->bytes() > below) return;
  parts.listed.emplace_back(node);
  parts.new_bytes += below;
  const size_t fresh = parts.listed.size() - parts.remained;
  parts_due = fresh >= std::max(kFewParts, parts.remained) &&
              (parts.new_bytes >= kFewBytes || fresh >= kManyParts);
}

std::vector<Ref<Node>> take_parts() {
  const Parts taken = std::exchange(parts, Parts());
  parts_due = false;
  std::vector<Ref<Node>> out;
  for (const NodeHandle& handle : taken.listed) {
    Node* node = handle.get();
    if (node && !node->has_value() && !node->tracked()) out.emplace_back(node);
  }
  return out;
}

void put_back(const std::vector<Ref<Node>>& remaining) {
  for (const Ref<Node>& node : remaining) parts.listed.emplace_back(node.get());
  parts.remained += remaining.size();
}

}  // namespace pullback
