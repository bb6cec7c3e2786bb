// The list, and when it is time to go through it: like a garbage collection, when there are as many
// new parts as remained the last time, so that one is looked at a few times at most.
#include "graph/pending_results.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pullback {
namespace {

// Of fewer parts, or of parts of less, nobody would notice the memory …
constexpr size_t kFewResults = 8;
constexpr int64_t kFewBytes = int64_t{1} << 20;
constexpr size_t kManyResults = 1024;  // … but of so many the nodes
// What is smaller costs less than the nodes that hold it.
constexpr int64_t kSmallValue = 1024;

struct Parts {
  std::vector<NodeHandle> listed;
  size_t remained = 0;    // of these, those that were looked at before
  int64_t new_bytes = 0;  // that the others are made from
};
Parts parts;

// Numbers of what the last parts were made from: a large array that is taken apart counts once.
std::array<uint64_t, 4> lately{};
size_t next_of_lately = 0;

bool is_new(uint64_t seq) {
  if (std::find(lately.begin(), lately.end(), seq) != lately.end()) return false;
  lately[next_of_lately++ % lately.size()] = seq;
  return true;
}

}  // namespace

void note_pending_result(Node* node) {
  const Node* largest = nullptr;
  int64_t below = 0;
  for (const Node* input : node->inputs()) {
    const int64_t bytes = input->bytes();
    if (bytes > below) {
      below = bytes;
      largest = input;
    }
  }
  if (below < kSmallValue || 2 * node->bytes() > below) return;
  parts.listed.emplace_back(node);
  if (is_new(largest->seq)) parts.new_bytes += below;
  const size_t fresh = parts.listed.size() - parts.remained;
  flush_due = fresh >= std::max(kFewResults, parts.remained) &&
              (parts.new_bytes >= kFewBytes || fresh >= kManyResults);
}

std::vector<NodeRef> take_pending_results() {
  const Parts taken = std::exchange(parts, Parts());
  flush_due = false;
  std::vector<NodeRef> out;
  for (const NodeHandle& handle : taken.listed) {
    Node* node = handle.get();
    if (node && !node->has_value() && !node->tracked()) out.emplace_back(node);
  }
  return out;
}

void put_back_pending(const std::vector<NodeRef>& remaining) {
  for (const NodeRef& node : remaining) parts.listed.emplace_back(node.get());
  parts.remained += remaining.size();
}

}  // namespace pullback
