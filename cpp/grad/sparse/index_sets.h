// Interned sets of positions: each set is stored once and has a number. The dependence of a large
// tensor is then one number for each entry, moving entries moves numbers, and equal sets are found
// equal by number.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace pullback {

class IndexSets {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = 0;
  // Positions begin … end-1. A set is an ascending list of disjoint ranges; a block, a prefix or
  // the whole tensor is a single one.
  struct Range {
    int32_t begin, end;
  };

  // Sets of positions 0 … count-1. `who` is named if the sets need too much memory.
  IndexSets(int64_t count, const char* who);

  // {i}
  static Id single(int64_t i) { return static_cast<Id>(i + 1); }
  Id unite(Id a, Id b) {
    if (a == b || b == kNone) return a;
    return a == kNone ? b : unite_different(a, b);
  }
  Id unite(std::span<const Id> ids);

  std::span<const Range> ranges(Id id) const {
    return std::span(ranges_).subspan(starts_[id], starts_[id + 1] - starts_[id]);
  }
  int64_t size(Id id) const;

 private:
  struct Union {
    uint64_t pair = 0;  // two set numbers, the larger in the high half
    Id id = kNone;
  };

  Id unite_different(Id a, Id b);
  // The number of the set in `merged_`.
  Id number_of_merged();
  void grow();

  const char* who_;
  std::vector<Range> ranges_;       // of all sets, concatenated
  std::vector<size_t> starts_;      // first range of each set; with the end as the last entry
  std::vector<Id> by_content_;      // a hash table with open addressing, without single positions
  std::array<Union, 1024> recent_;  // recent unions: along a row the same pair occurs often
  std::vector<Range> merged_;
  std::vector<Id> distinct_;
};

}  // namespace pullback
