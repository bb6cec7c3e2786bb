// Slices as masks, and whether several slices cover their tensor. No value is read.

#include "grad/zeros/slice_masks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ops/ops.h"

namespace pullback {
namespace {

// A set of slices as bits.
using SliceSet = uint64_t;
constexpr size_t kMostSlices = 64;
constexpr size_t kMostSets = 4096;

void drop_repeated(std::vector<SliceSet>* sets) {
  std::sort(sets->begin(), sets->end());
  sets->erase(std::unique(sets->begin(), sets->end()), sets->end());
}

// One axis of a slice: `count` positions from `start`. A mask of size 1 along an axis covers all of
// it.
struct AxisRange {
  int64_t start, step, count;

  AxisRange(const Node* mask, int64_t axis, int64_t length)
      : start(mask->slice->start[axis]),
        step(mask->slice->step[axis]),
        count(mask->in[0]->shape[axis]) {
    if (mask->shape[axis] != length) *this = AxisRange(length);
  }
  explicit AxisRange(int64_t length) : start(0), step(1), count(length) {}

  int64_t last() const { return start + (count - 1) * step; }
  int64_t begin() const { return std::min(start, last()); }
  int64_t end() const { return std::max(start, last()) + 1; }
  bool dense() const { return step == 1 || step == -1 || count == 1; }
  bool holds(int64_t position) const {
    const int64_t offset = position - start;
    if (count == 1) return offset == 0;
    return offset % step == 0 && offset / step >= 0 && offset / step < count;
  }
};

std::vector<AxisRange> stretches_along(std::span<const NodeRef> masks, int64_t axis,
                                       int64_t length) {
  std::vector<AxisRange> out;
  for (const NodeRef& mask : masks) out.emplace_back(mask.get(), axis, length);
  return out;
}

// For the positions of an axis, the different sets of slices that contain one. Empty if that would
// take too long.
std::vector<SliceSet> sets_along(std::span<const AxisRange> ranges, int64_t length) {
  std::vector<int64_t> positions = {0};  // the first position of each run of equal sets
  bool dense = true;
  for (const AxisRange& range : ranges) {
    dense &= range.dense();
    positions.push_back(range.begin());
    positions.push_back(range.end());
  }
  if (!dense) {
    if (length > static_cast<int64_t>(kMostSets)) return {};
    positions.resize(static_cast<size_t>(length));
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  }
  std::vector<SliceSet> sets;
  for (int64_t position : positions) {
    if (position >= length) continue;
    SliceSet set = 0;
    for (size_t k = 0; k < ranges.size(); ++k) {
      set |= static_cast<SliceSet>(ranges[k].holds(position)) << k;
    }
    sets.push_back(set);
  }
  drop_repeated(&sets);
  return sets;
}

// The same for any number of slices that are complete along all axes except `axis`.
bool cover_along(std::span<const NodeRef> masks, const Shape& shape, int64_t axis) {
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (const NodeRef& mask : masks) {
    for (int64_t d = 0; d < shape.rank; ++d) {
      if (d != axis && mask->in[0]->shape[d] != mask->shape[d]) return false;
    }
    const AxisRange range(mask.get(), axis, shape[axis]);
    if (!range.dense()) return false;
    parts.emplace_back(range.begin(), range.end());
  }
  std::sort(parts.begin(), parts.end());
  int64_t covered = 0;
  for (const auto& [begin, end] : parts) {
    if (begin > covered) return false;
    covered = std::max(covered, end);
  }
  return covered == shape[axis];
}

}  // namespace

bool is_true(const Node* mask) {
  while (mask->op == Op::broadcast_to && mask->inputs_count == 1 && !mask->rule) mask = mask->in[0];
  return mask->op == Op::scalar && mask->dtype == DType::Bool && mask->scalar.i == 1 &&
         mask->flags & kConstant;
}

bool is_slice_mask(const Node* mask) {
  return mask->op == Op::embed && mask->inputs_count == 1 && !mask->rule && is_true(mask->in[0]);
}

bool cover(std::span<const NodeRef> masks) {
  Shape shape = masks[0]->shape;
  for (const NodeRef& mask : masks) {
    if (mask->shape.rank != shape.rank || mask->in[0]->shape.size() == 0) return false;
    for (int64_t d = 0; d < shape.rank; ++d) shape[d] = std::max(shape[d], mask->shape[d]);
  }
  if (masks.size() > kMostSlices) {
    for (int64_t axis = 0; axis < shape.rank; ++axis) {
      if (cover_along(masks, shape, axis)) return true;
    }
    return false;
  }
  std::vector<SliceSet> sets = {~SliceSet{0}};
  for (int64_t axis = 0; axis < shape.rank; ++axis) {
    const std::vector<SliceSet> along =
        sets_along(stretches_along(masks, axis, shape[axis]), shape[axis]);
    if (along.empty() || along.size() * sets.size() > kMostSets) return false;
    std::vector<SliceSet> both;
    for (SliceSet a : sets) {
      for (SliceSet b : along) both.push_back(a & b);
    }
    drop_repeated(&both);
    if (both[0] == 0) return false;
    sets = std::move(both);
  }
  return true;
}

}  // namespace pullback
