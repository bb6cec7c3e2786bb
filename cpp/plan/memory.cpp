#include "plan/memory.h"

#include <algorithm>
#include <map>

#include "plan/verify.h"

namespace pullback {
namespace {

constexpr int64_t kAlign = 64;

// Free gaps of the arena, by offset and by size: best fit, neighbours merged.
class Gaps {
 public:
  int64_t take(int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, -1});
    if (fit == by_size_.end()) {
      const int64_t at = end_;
      end_ += bytes;
      return at;
    }
    const auto [size, at] = fit->first;
    erase(at, size);
    if (size > bytes) insert(at + bytes, size - bytes);
    return at;
  }

  void give(int64_t at, int64_t bytes) {
    auto next = by_offset_.lower_bound(at);
    if (next != by_offset_.end() && at + bytes == next->first) {
      bytes += next->second;
      erase(next->first, next->second);
    }
    auto previous = by_offset_.lower_bound(at);
    if (previous != by_offset_.begin() && (--previous)->first + previous->second == at) {
      at = previous->first;
      bytes += previous->second;
      erase(previous->first, previous->second);
    }
    insert(at, bytes);
  }

  int64_t end() const { return end_; }

 private:
  void insert(int64_t at, int64_t bytes) {
    by_offset_[at] = bytes;
    by_size_[{bytes, at}] = true;
  }
  void erase(int64_t at, int64_t bytes) {
    by_offset_.erase(at);
    by_size_.erase({bytes, at});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::map<std::pair<int64_t, int64_t>, bool> by_size_;
  int64_t end_ = 0;
};

}  // namespace

void plan_memory(Plan* plan) {
  for (int32_t i = 0; i < static_cast<int32_t>(plan->steps.size()); ++i) {
    for_each_view(plan->steps[i], [&](const View& view, bool) {
      Slot& slot = plan->slots[view.slot];
      if (slot.first < 0) slot.first = i;
      slot.last = i;
    });
  }
  std::vector<std::vector<int32_t>> starts(plan->steps.size());
  std::vector<std::vector<int32_t>> ends(plan->steps.size());
  for (int32_t s = 0; s < static_cast<int32_t>(plan->slots.size()); ++s) {
    const Slot& slot = plan->slots[s];
    if (slot.kind != SlotKind::Temporary || slot.first < 0) continue;
    starts[slot.first].push_back(s);
    ends[slot.last].push_back(s);
  }
  Gaps gaps;
  const auto size = [](const Slot& slot) { return (slot.bytes + kAlign - 1) / kAlign * kAlign; };
  for (size_t i = 0; i < plan->steps.size(); ++i) {
    for (int32_t s : starts[i]) {
      Slot& slot = plan->slots[s];
      slot.index = size(slot) ? gaps.take(size(slot)) : 0;
    }
    // A slot is free from the step after its last use on: a step never writes what it reads.
    for (int32_t s : ends[i]) {
      const Slot& slot = plan->slots[s];
      if (size(slot)) gaps.give(slot.index, size(slot));
    }
  }
  plan->arena_bytes = gaps.end();
}

}  // namespace pullback
