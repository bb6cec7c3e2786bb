// TileValues: facts about each value of a tile group that the compiler needs before it emits code:
// last uses, pairs of instructions, interleaved columns. Start at ValueInfo.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/tiles/strided.h"
#include "plan/plan.h"

namespace pullback {

struct ValueInfo {
  DType dtype;
  bool row = false;       // one entry per row; always false in a group without rows
  bool constant = false;  // a leaf with one entry everywhere; with `row`, not needed per element
  int32_t last_use = -1;  // number of an instruction; kEnd: after the last one
  int32_t last_element_use = -1;  // last use of a value over rows as a value per element
  int32_t first_store = -1;       // store that an instruction writes directly
  int32_t first_scatter = -1;     // first store to elements that are not contiguous
  Axes axes{};                    // of a load, over its entries
};

// True if the elements are contiguous.
bool is_dense(const View& view);

class TileValues {
 public:
  static constexpr int32_t kEnd = INT32_MAX;

  explicit TileValues(const TileGroup& group);
  const ValueInfo& operator[](int32_t value) const { return info_[value]; }
  size_t size() const { return info_.size(); }
  int32_t loads() const { return static_cast<int32_t>(group_.loads.size()); }
  int32_t leaves() const { return loads() + static_cast<int32_t>(group_.scalars.size()); }
  // True if a value that is stored or reduced with `entries` entries has one entry per row.
  bool is_row(int64_t entries, int32_t value) const {
    return group_.length > 1 && entries != group_.count &&
           (info_[value].row || info_[value].constant);
  }

  // The instruction that shares a kernel call with this one, if this is the first of the two; else
  // -1.
  int32_t partner(int32_t instruction) const { return partner_[instruction]; }

  // Interleaved columns of one memory are loaded together and stored together. All loads (stores)
  // of the set of a load (store), itself included, in order of their offsets; null if it is alone.
  const std::vector<int32_t>* interleaved_load(int32_t load) const {
    return find(interleaved_loads_, load);
  }
  const std::vector<int32_t>* interleaved_store(int32_t store) const {
    return find(interleaved_stores_, store);
  }

  // For an addition: the `place` that it does in its own pass; for such a place: the addition; else
  // -1.
  int32_t placed(int32_t instruction) const { return placed_[instruction]; }

  // For a square or an absolute value that one fold alone reads and computes itself, and a product
  // that one sum or difference computes: that instruction, or kEnd for a reduction; else -1.
  int32_t folded(int32_t instruction) const { return folded_[instruction]; }

 private:
  void find_pairs();
  std::vector<int32_t> count_uses() const;
  void find_placed();
  void find_folded();
  void find_product_sums(const std::vector<int32_t>& uses);
  struct Interleaved {
    std::vector<int32_t> set;  // number of the set of each view; -1: none
    std::vector<std::vector<int32_t>> sets;
  };
  template <class ViewOf, class Row>
  Interleaved find_interleaved(int32_t count, ViewOf&& view_of, Row&& row) const;
  static const std::vector<int32_t>* find(const Interleaved& interleaved, int32_t view) {
    return interleaved.set[view] < 0 ? nullptr : &interleaved.sets[interleaved.set[view]];
  }
  bool stored_between(int32_t first, int32_t last) const;
  void add_load(const View& view);
  void use(int32_t value, int32_t when, bool row);

  const TileGroup& group_;
  std::vector<ValueInfo> info_;
  std::vector<int32_t> partner_;
  std::vector<int32_t> placed_;
  std::vector<int32_t> folded_;
  Interleaved interleaved_loads_, interleaved_stores_;
};

}  // namespace pullback
