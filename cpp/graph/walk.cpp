// Sorts nodes by creation number: by comparison if there are few, else by radix.
#include "graph/walk.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pullback {
namespace {

struct Entry {
  uint64_t number;
  Node* node;
};

uint32_t last_epoch = 0;

constexpr size_t kFew = 512;
constexpr int kDigit = 11;  // bits

// Radix sort from the lowest digit: for many nodes, a few passes over dense memory cost less than
// comparisons.
void sort_digits(std::vector<Entry>* entries, uint64_t largest) {
  std::vector<Entry> other(entries->size());
  for (int shift = 0; shift < 64 && largest >> shift; shift += kDigit) {
    const auto digit = [&](const Entry& entry) {
      return entry.number >> shift & ((1 << kDigit) - 1);
    };
    std::array<uint32_t, 1 << kDigit> at{};
    for (const Entry& entry : *entries) ++at[digit(entry)];
    uint32_t sum = 0;
    for (uint32_t& first : at) sum += std::exchange(first, sum);
    for (const Entry& entry : *entries) other[at[digit(entry)]++] = entry;
    entries->swap(other);
  }
}

}  // namespace

void sort_by_creation(std::span<Node*> nodes) {
  // By number, never by address.  NOLINTBEGIN(bugprone-nondeterministic-pointer-iteration-order)
  const auto older = [](const auto* a, const auto* b) { return a->seq < b->seq; };
  if (std::is_sorted(nodes.begin(), nodes.end(), older)) return;
  if (nodes.size() < kFew) return std::sort(nodes.begin(), nodes.end(), older);
  // NOLINTEND(bugprone-nondeterministic-pointer-iteration-order)
  std::vector<Entry> entries;
  entries.reserve(nodes.size());
  uint64_t lowest = UINT64_MAX;
  uint64_t highest = 0;
  for (Node* node : nodes) {
    entries.push_back({node->seq, node});
    lowest = std::min(lowest, node->seq);
    highest = std::max(highest, node->seq);
  }
  for (Entry& entry : entries) entry.number -= lowest;
  sort_digits(&entries, highest - lowest);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = entries[i].node;
}

uint32_t new_epoch() {
  if (++last_epoch == 0) {
    clear_marks();
    last_epoch = 1;
  }
  return last_epoch;
}

void set_epoch(uint32_t epoch) { last_epoch = epoch; }

}  // namespace pullback
