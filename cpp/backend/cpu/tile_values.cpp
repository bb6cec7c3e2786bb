#include "backend/cpu/tile_values.h"

#include <algorithm>

#include "backend/cpu/kernels/table.h"

namespace pullback {

TileValues::TileValues(const TileGroup& group) : group_(group) {
  const auto instructions = static_cast<int32_t>(group.instructions.size());
  info_.reserve(group.loads.size() + group.scalars.size() + group.instructions.size());
  for (const View& view : group.loads) add_load(view);
  for (const ScalarLoad& load : group.scalars) {
    info_.push_back({load.dtype, group.length > 1, true});
  }
  for (const Instruction& instruction : group.instructions) {
    info_.push_back({instruction.result, instruction.row && group.length > 1});
  }
  find_pairs();
  for (int32_t i = 0; i < instructions; ++i) {
    const Instruction& instruction = group.instructions[i];
    const int32_t when = partner_[i] < 0 ? i : std::min(i, partner_[i]);
    for (int k = 0; k < 3; ++k) {
      bool row = instruction.row;
      if (is_reduction(instruction.op)) row = false;
      if (instruction.op == Op::pick) row = k > 0;
      if (instruction.op == Op::place) row = true;
      if (instruction.in[k] >= 0) use(instruction.in[k], when, row);
    }
  }
  for (auto i = static_cast<int32_t>(group.stores.size()) - 1; i >= 0; --i) {
    const Store& store = group.stores[i];
    use(store.value, kEnd, is_row(store.view.shape.size(), store.value));
    info_[store.value].first_store = i;
  }
  for (const Reduction& r : group.reductions) {
    use(r.value, kEnd, is_row(r.outer * r.reduced * r.inner, r.value));
  }
}

void TileValues::find_pairs() {
  partner_.assign(group_.instructions.size(), -1);
  for (const Pair& pair : kernels().pairs.of) {
    std::vector<int32_t> waiting(info_.size(),
                                 -1);  // of each value: an instruction without partner
    for (int32_t i = 0; i < static_cast<int32_t>(partner_.size()); ++i) {
      const Instruction& instruction = group_.instructions[i];
      if (instruction.op != pair.first && instruction.op != pair.second) continue;
      int32_t& other = waiting[instruction.in[0]];
      if (other < 0) {
        other = i;
      } else if (group_.instructions[other].op != instruction.op &&
                 group_.instructions[other].row == instruction.row) {
        partner_[i] = other;
        partner_[other] = i;
        other = -1;
      }
    }
  }
}

// A load over elements that repeats one entry along each row is a load over rows.
void TileValues::add_load(const View& view) {
  ValueInfo info{view.dtype};
  info.axes = merged_axes(view);
  Axes& axes = info.axes;
  info.constant = axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == 0);
  const int last = axes.rank - 1;
  if (group_.length > 1) {
    info.row = info.constant || view.shape.size() != group_.count;
    if (!info.row && axes.stride[last] == 0 && axes.dim[last] % group_.length == 0) {
      info.row = true;
      axes.dim[last] /= group_.length;
      if (axes.dim[last] == 1) --axes.rank;
    }
  }
  info_.push_back(info);
}

void TileValues::use(int32_t value, int32_t when, bool row) {
  ValueInfo& info = info_[value];
  info.last_use = std::max(info.last_use, when);
  if (row || !info.row) return;
  info.last_element_use = std::max(info.last_element_use, when);
  if (info.constant) info.row = false;
}

}  // namespace pullback
