// The list of pending small results, and when to flush it. As in garbage collection, a flush is due
// when there are as many new results as remained after the last one, so each is examined a few
// times only.
#include "graph/pending_results.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pullback {
namespace {

// Fewer results, or results that keep less memory alive, are not worth a flush.
constexpr size_t kFewResults = 8;
constexpr int64_t kFewBytes = int64_t{1} << 20;
constexpr size_t kManyResults = 1024;  // from here on the nodes themselves are worth one
// Smaller values cost less than their nodes.
constexpr int64_t kSmallValue = 1024;

struct PendingList {
  std::vector<NodeHandle> listed;
  size_t remained = 0;    // results that an earlier flush has examined
  int64_t new_bytes = 0;  // bytes of the inputs of the others
};
PendingList pending_list;

// Creation numbers of the inputs of the latest results: an array with many small results counts
// once.
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
  pending_list.listed.emplace_back(node);
  if (is_new(largest->seq)) pending_list.new_bytes += below;
  const size_t fresh = pending_list.listed.size() - pending_list.remained;
  flush_due = fresh >= std::max(kFewResults, pending_list.remained) &&
              (pending_list.new_bytes >= kFewBytes || fresh >= kManyResults);
}

std::vector<NodeRef> take_pending_results() {
  const PendingList taken = std::exchange(pending_list, PendingList());
  flush_due = false;
  std::vector<NodeRef> out;
  for (const NodeHandle& handle : taken.listed) {
    Node* node = handle.get();
    if (node && !node->has_value() && !node->tracked()) out.emplace_back(node);
  }
  return out;
}

void put_back_pending(const std::vector<NodeRef>& remaining) {
  for (const NodeRef& node : remaining) pending_list.listed.emplace_back(node.get());
  pending_list.remained += remaining.size();
}

}  // namespace pullback
