// Each axis of a factor has size 1 or the size of its tensor's axis.

#include "grad/zeros/mask_factors.h"

namespace pullback {
namespace {

// The slice of a factor for a slice of `shape` of its tensor; axes of size 1 are taken completely.
StridedSlice slice_for(const NodeRef& factor, StridedSlice range, Shape* shape) {
  for (int64_t d = 0; d < shape->rank; ++d) {
    if (factor->shape[d] != 1) continue;
    range.start[d] = 0;
    range.step[d] = 1;
    (*shape)[d] = 1;
  }
  return range;
}

}  // namespace

NodeRef widened(const NodeRef& factor, const Shape& to, int64_t from, int64_t count) {
  Shape shape = factor->shape;
  bool same = true;
  for (int64_t d = from; d < from + count; ++d) same &= shape[d] == 1;
  if (same) return factor;
  for (int64_t d = from; d < from + count; ++d) shape[d] = to[d];
  return broadcast_to(factor, shape);
}

NodeRef with_ones(const NodeRef& factor, int64_t from, int64_t count, int64_t new_count) {
  Shape shape;
  for (int64_t d = 0; d < from; ++d) shape.append(factor->shape[d]);
  for (int64_t d = 0; d < new_count; ++d) shape.append(1);
  for (int64_t d = from + count; d < factor->shape.rank; ++d) shape.append(factor->shape[d]);
  return reshape(factor, shape);
}

NodeRef reshaped(const NodeRef& factor, const Shape& old, const Shape& now) {
  NodeRef out = factor;
  Shape shape;
  int64_t i = 0;
  int64_t j = 0;
  while (i < old.rank || j < now.rank) {
    const int64_t first = i;
    const int64_t first_now = j;
    int64_t a = i < old.rank ? old[i++] : 1;
    int64_t b = j < now.rank ? now[j++] : 1;
    while (a != b) {
      if (a < b) {
        a *= old[i++];
      } else {
        b *= now[j++];
      }
    }
    const NodeRef wide = widened(out, old, first, i - first);
    bool same = true;
    for (int64_t d = first; d < i; ++d) same &= wide->shape[d] == 1;
    for (int64_t d = first_now; d < j; ++d) shape.append(same ? 1 : now[d]);
    out = wide;
  }
  return reshape(out, shape);
}

NodeRef sliced(const NodeRef& factor, Shape shape, const StridedSlice& range) {
  const StridedSlice own = slice_for(factor, range, &shape);
  return slice(factor, shape, own);
}

NodeRef embedded(const NodeRef& factor, Shape around, const StridedSlice& range) {
  const StridedSlice own = slice_for(factor, range, &around);
  return embed(factor, around, own);
}

NodeRef taken(const NodeRef& factor, const Node* indices, int64_t axis) {
  if (factor->shape[axis] == 1) return with_ones(factor, axis, 1, indices->shape.rank);
  return take(factor, NodeRef(const_cast<Node*>(indices)), axis);
}

NodeRef picked(const NodeRef& factor, const Shape& shape, const Node* indices) {
  const int64_t last = factor->shape.rank - 1;
  if (factor->shape[last] == 1) return with_ones(factor, last, 1, 0);
  return pick(broadcast_to(factor, shape), NodeRef(const_cast<Node*>(indices)));
}

}  // namespace pullback
