// What the compiler of a tile group wants to know of each value before it emits anything.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/tiles/strided.h"
#include "plan/plan.h"

namespace pullback {

struct ValueInfo {
  DType dtype;
  bool row = false;       // one entry a row. In a group without rows everything is over elements
  bool constant = false;  // a leaf that is one entry everywhere; row: no element needs it
  int32_t last_use = -1;  // instruction, kEnd: after the last one
  int32_t last_element_use = -1;  // of a value over rows, where it is needed along the rows
  int32_t first_store = -1;       // an instruction writes directly to it
  int32_t first_scatter = -1;     // of those whose elements do not lie side by side
  Axes axes{};                    // of a load, over its entries
};

// Whether the elements lie side by side.
bool is_dense(const View& view);

class TileValues {
 public:
  static constexpr int32_t kEnd = INT32_MAX;

  explicit TileValues(const TileGroup& group);
  const ValueInfo& operator[](int32_t value) const { return info_[value]; }
  size_t size() const { return info_.size(); }
  int32_t loads() const { return static_cast<int32_t>(group_.loads.size()); }
  int32_t leaves() const { return loads() + static_cast<int32_t>(group_.scalars.size()); }
  // Is a value that is stored or reduced with so many entries taken over rows?
  bool is_row(int64_t entries, int32_t value) const {
    return group_.length > 1 && entries != group_.count &&
           (info_[value].row || info_[value].constant);
  }

  // The instruction that is done in one call with this one, when the first of the two is due; -1.
  int32_t partner(int32_t instruction) const { return partner_[instruction]; }

  // Columns of one memory, whose elements take turns in it, are loaded together, and stored
  // together: all loads (stores) that a load (store) is done with, in the order of their places,
  // itself among them. Null for one that is alone.
  const std::vector<int32_t>* woven_load(int32_t load) const { return find(woven_loads_, load); }
  const std::vector<int32_t>* woven_store(int32_t store) const {
    return find(woven_stores_, store);
  }

  // The place that this addition does in its own pass, and the addition of such a place; -1.
  int32_t placed(int32_t instruction) const { return placed_[instruction]; }

 private:
  void find_pairs();
  void find_placed();
  struct Interleaved {
    std::vector<int32_t> set;  // of each view: which, -1 for none
    std::vector<std::vector<int32_t>> sets;
  };
  template <class ViewOf, class Row>
  Interleaved find_woven(int32_t count, ViewOf&& view_of, Row&& row) const;
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
  Interleaved woven_loads_, woven_stores_;
};

}  // namespace pullback
