// One hash table finds the set with a given content.
#include "grad/sparse/index_sets.h"

#include <algorithm>

#include "base/error.h"

namespace pullback {
namespace {

constexpr size_t kMostRanges = size_t{1} << 26;  // 512 MiB

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

uint64_t hash_of(std::span<const IndexSets::Range> set) {
  uint64_t hash = set.size();
  for (const auto [begin, end] : set) {
    hash = mixed(hash ^ (static_cast<uint64_t>(begin) << 32 | static_cast<uint32_t>(end)));
  }
  return hash;
}

bool same(std::span<const IndexSets::Range> a, std::span<const IndexSets::Range> b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.begin == y.begin && x.end == y.end; });
}

void append(std::vector<IndexSets::Range>* out, IndexSets::Range next) {
  if (!out->empty() && next.begin <= out->back().end) {
    out->back().end = std::max(out->back().end, next.end);
  } else {
    out->push_back(next);
  }
}

}  // namespace

IndexSets::IndexSets(int64_t count, const char* who) : who_(who) {
  size_t room = 64;
  while (room < 2 * static_cast<size_t>(count)) room *= 2;
  by_content_.resize(room);
  starts_ = {0, 0};
  for (int32_t i = 0; i < count; ++i) {
    ranges_.push_back({i, i + 1});
    starts_.push_back(ranges_.size());
  }
}

int64_t IndexSets::size(Id id) const {
  int64_t n = 0;
  for (const auto [begin, end] : ranges(id)) n += end - begin;
  return n;
}

IndexSets::Id IndexSets::unite_different(Id a, Id b) {
  const uint64_t pair = static_cast<uint64_t>(std::max(a, b)) << 32 | std::min(a, b);
  Union& recent = recent_[mixed(pair) % recent_.size()];
  if (recent.pair == pair) return recent.id;
  const auto left = ranges(a);
  const auto right = ranges(b);
  merged_.clear();
  for (size_t i = 0, j = 0; i < left.size() || j < right.size();) {
    const bool take_left =
        j == right.size() || (i < left.size() && left[i].begin <= right[j].begin);
    append(&merged_, take_left ? left[i++] : right[j++]);
  }
  const Id id = same(merged_, left) ? a : same(merged_, right) ? b : number_of_merged();
  recent = {pair, id};
  return id;
}

IndexSets::Id IndexSets::unite(std::span<const Id> ids) {
  distinct_.clear();
  for (Id id : ids) {
    if (id != kNone && (distinct_.empty() || id != distinct_.back())) distinct_.push_back(id);
  }
  std::sort(distinct_.begin(), distinct_.end());
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
  if (distinct_.empty()) return kNone;
  if (distinct_.size() == 1) return distinct_[0];
  if (distinct_.size() == 2) return unite_different(distinct_[0], distinct_[1]);
  std::vector<Range> all;
  for (Id id : distinct_) {
    const auto set = ranges(id);
    all.insert(all.end(), set.begin(), set.end());
  }
  const auto earlier = [](const Range& a, const Range& b) { return a.begin < b.begin; };
  if (!std::ranges::is_sorted(all, earlier)) std::ranges::sort(all, earlier);
  merged_.clear();
  for (const Range& range : all) append(&merged_, range);
  return number_of_merged();
}

IndexSets::Id IndexSets::number_of_merged() {
  if (merged_.empty()) return kNone;
  if (merged_.size() == 1 && merged_[0].end - merged_[0].begin == 1) {
    return single(merged_[0].begin);
  }
  const size_t mask = by_content_.size() - 1;
  size_t at = hash_of(merged_) & mask;
  for (; by_content_[at] != kNone; at = (at + 1) & mask) {
    if (same(ranges(by_content_[at]), merged_)) return by_content_[at];
  }
  if (ranges_.size() + merged_.size() > kMostRanges) {
    fail(ErrorKind::Memory, who_,
         ": the dependence sets of the entries require more than 512 MiB, too much for a sparse "
         "matrix; use jacobian or hessian");
  }
  const Id id = static_cast<Id>(starts_.size() - 1);
  by_content_[at] = id;
  ranges_.insert(ranges_.end(), merged_.begin(), merged_.end());
  starts_.push_back(ranges_.size());
  if (starts_.size() * 2 > by_content_.size()) grow();
  return id;
}

void IndexSets::grow() {
  std::vector<Id> wider(by_content_.size() * 2);
  const size_t mask = wider.size() - 1;
  for (Id id : by_content_) {
    if (id == kNone) continue;
    size_t at = hash_of(ranges(id)) & mask;
    while (wider[at] != kNone) at = (at + 1) & mask;
    wider[at] = id;
  }
  by_content_ = std::move(wider);
}

}  // namespace pullback
