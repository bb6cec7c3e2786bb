// One pass over the instructions before any code is emitted: how many entries a value has, when it
// is last read, and whether it can be computed in the memory of its store. Also finds pairs of
// instructions that are one kernel call, and `place`s done by an addition, because both change when
// values are read.
#include "backend/cpu/tiles/tile_values.h"

#include <algorithm>
#include <map>
#include <utility>

#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

// Products are computed by the sums that read them; programs over fewer elements may be compiled to
// native code (small/native_code.h), which has no such kernels.
constexpr int64_t kManyElements = 1024;

}  // namespace

bool is_dense(const View& view) {
  const Axes axes = merged_axes(view);
  return axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == 1);
}

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
  interleaved_loads_ = find_interleaved(
      loads(), [&](int32_t i) -> const View& { return group.loads[i]; },
      [&](int32_t i) { return info_[i].row; });
  interleaved_stores_ = find_interleaved(
      static_cast<int32_t>(group.stores.size()),
      [&](int32_t i) -> const View& { return group.stores[i].view; },
      [&](int32_t i) { return is_row(group.stores[i].view.shape.size(), group.stores[i].value); });
  for (auto i = static_cast<int32_t>(group_.stores.size()) - 1; i >= 0; --i) {
    if (interleaved_store(i)) continue;
    ValueInfo& info = info_[group_.stores[i].value];
    (is_dense(group_.stores[i].view) ? info.first_store : info.first_scatter) = i;
  }
  find_pairs();
  find_placed();
  find_folded();
  for (int32_t i = 0; i < instructions; ++i) {
    const Instruction& instruction = group.instructions[i];
    const int32_t when =
        partner_[i] >= 0 ? std::min(i, partner_[i]) : std::max({i, placed_[i], folded_[i]});
    for (int k = 0; k < instruction.in.size(); ++k) {
      bool row = instruction.row;
      if (is_fold(instruction.op)) row = false;
      if (instruction.op == Op::pick) row = k > 0;
      if (instruction.op == Op::place) row = true;
      use(instruction.in[k], when, row);
    }
  }
  for (int32_t i = 0; i < static_cast<int32_t>(group.stores.size()); ++i) {
    const Store& store = group.stores[i];
    const bool early = store.value >= leaves() && info_[store.value].first_scatter == i;
    use(store.value, early ? store.value - leaves() : kEnd,
        is_row(store.view.shape.size(), store.value));
  }
  for (const Reduction& r : group.reductions) {
    use(r.value, kEnd, is_row(r.outer * r.reduced * r.inner, r.value));
  }
}

void TileValues::find_pairs() {
  partner_.assign(group_.instructions.size(), -1);
  for (const Pair& pair : kernels().pairs.of) {
    std::vector<int32_t> waiting(info_.size(),
                                 -1);  // of each value; -1: no partner
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

// Finds two to four columns that together fill a memory; one by one, each would read all of it.
template <class ViewOf, class Row>
TileValues::Interleaved TileValues::find_interleaved(int32_t count, ViewOf&& view_of,
                                                     Row&& row) const {
  Interleaved out{std::vector<int32_t>(count, -1), {}};
  std::map<std::pair<int32_t, int64_t>, int32_t> columns;  // by slot and offset
  const auto stride_of = [&](int32_t i) -> int64_t {
    const View& view = view_of(i);
    const Axes axes = merged_axes(view);
    const bool fits = axes.rank == 1 && axes.stride[0] > 1 && axes.stride[0] <= kMostInterleaved;
    return fits && size_of(view.dtype) >= 4 ? axes.stride[0] : 0;
  };
  for (int32_t i = 0; i < count; ++i) {
    if (stride_of(i)) columns[{view_of(i).slot, view_of(i).offset}] = i;
  }
  for (const auto& [where, first] : columns) {
    const int64_t stride = stride_of(first);
    std::vector<int32_t> set;
    for (int64_t k = 0; k < stride; ++k) {
      const auto next = columns.find({where.first, where.second + k});
      if (next == columns.end()) break;
      const int32_t i = next->second;
      if (out.set[i] >= 0 || stride_of(i) != stride || row(i) != row(first) ||
          view_of(i).shape.size() != view_of(first).shape.size()) {
        break;
      }
      set.push_back(i);
    }
    if (static_cast<int64_t>(set.size()) < stride) continue;
    for (const int32_t i : set) out.set[i] = static_cast<int32_t>(out.sets.size());
    out.sets.push_back(std::move(set));
  }
  return out;
}

std::vector<int32_t> TileValues::count_uses() const {
  std::vector<int32_t> uses(info_.size(), 0);
  for (const Instruction& instruction : group_.instructions) {
    for (const int32_t in : instruction.in) ++uses[in];
  }
  for (const Store& store : group_.stores) ++uses[store.value];
  for (const Reduction& reduction : group_.reductions) ++uses[reduction.value];
  return uses;
}

// Finds `place`s that one addition alone reads. The memory that such a place reads must not be
// overwritten before that addition.
void TileValues::find_placed() {
  placed_.assign(group_.instructions.size(), -1);
  if (group_.length == 1) return;
  const std::vector<int32_t> uses = count_uses();
  for (int32_t i = 0; i < static_cast<int32_t>(placed_.size()); ++i) {
    const Instruction& add = group_.instructions[i];
    if (add.op != Op::add || add.row || !is_float(add.dtype)) continue;
    for (const int32_t in : add.in) {
      const int32_t place = in - leaves();
      if (place < 0 || placed_[i] >= 0 || group_.instructions[place].op != Op::place) continue;
      if (uses[in] > 1 || stored_between(place, i)) continue;
      placed_[i] = place;
      placed_[place] = i;
    }
  }
}

// Finds squares that are summed and absolute values whose maximum is taken. The memory that they
// read must not be overwritten before the fold.
void TileValues::find_folded() {
  folded_.assign(group_.instructions.size(), -1);
  const std::vector<int32_t> uses = count_uses();
  if (group_.count >= kManyElements) find_product_sums(uses);
  const auto find = [&](Op fold, int32_t value, int32_t when) {
    const int32_t index = value - leaves();
    if (index < 0 || uses[value] > 1) return;
    const Instruction& instruction = group_.instructions[index];
    const DType dtype = instruction.dtype;
    const bool squares = instruction.op == Op::square ||
                         (instruction.op == Op::multiply && instruction.in[0] == instruction.in[1]);
    if (dtype != DType::Float32 && dtype != DType::Float64) return;
    if (instruction.row || instruction.result != dtype) return;
    if ((fold == Op::sum && squares) || (fold == Op::max && instruction.op == Op::abs)) {
      folded_[index] = when;
    }
  };
  for (int32_t i = 0; group_.length > 1 && i < static_cast<int32_t>(folded_.size()); ++i) {
    const Instruction& fold = group_.instructions[i];
    const int32_t first = fold.in.size() > 0 ? fold.in[0] - leaves() : -1;
    if (!is_fold(fold.op) || first < 0 || stored_between(first, i)) continue;
    find(fold.op, fold.in[0], i);
  }
  if (!group_.stores.empty()) return;
  for (const Reduction& r : group_.reductions) find(r.op, r.value, kEnd);
}

// Finds products that one sum or difference alone reads, one or both of its operands. Operands over
// rows have kernels of their own.
void TileValues::find_product_sums(const std::vector<int32_t>& uses) {
  for (int32_t i = 0; i < static_cast<int32_t>(folded_.size()); ++i) {
    const Instruction& sum = group_.instructions[i];
    const DType dtype = sum.dtype;
    if ((sum.op != Op::add && sum.op != Op::subtract) || placed_[i] >= 0) continue;
    if (dtype != DType::Float32 && dtype != DType::Float64) continue;
    const auto fits = [&](int32_t value) {
      return sum.row || !info_[value].row || info_[value].constant;
    };
    const auto is_product = [&](int32_t value) {
      const int32_t index = value - leaves();
      if (index < 0 || uses[value] > 1) return false;
      const Instruction& product = group_.instructions[index];
      return product.op == Op::multiply && product.row == sum.row && fits(product.in[0]) &&
             fits(product.in[1]) && !stored_between(index, i);
    };
    const bool products[] = {is_product(sum.in[0]), is_product(sum.in[1])};
    for (int k = 0; k < 2; ++k) {
      if (products[k] && (products[1 - k] || fits(sum.in[1 - k]))) {
        folded_[sum.in[k] - leaves()] = i;
        if (!products[1 - k]) break;
      }
    }
  }
}

bool TileValues::stored_between(int32_t first, int32_t last) const {
  const auto at = info_.begin() + leaves();
  return std::any_of(at + first + 1, at + last, [](const ValueInfo& info) {
    return info.first_store >= 0 || info.first_scatter >= 0;
  });
}

// A load per element that repeats one entry along each row becomes a load per row.
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
