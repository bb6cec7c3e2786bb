// Each axis of a factor has size 1 or the size of its tensor's axis. Start at move_factor.

#include "grad/zeros/entry_moves.h"

#include "ops/order.h"
#include "ops/reduce.h"

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

// Axes [from, from + count) of a factor, broadcast to those of `to`, unless all have size 1.
NodeRef widened(const NodeRef& factor, const Shape& to, int64_t from, int64_t count) {
  Shape shape = factor->shape;
  bool same = true;
  for (int64_t d = from; d < from + count; ++d) same &= shape[d] == 1;
  if (same) return factor;
  for (int64_t d = from; d < from + count; ++d) shape[d] = to[d];
  return broadcast_to(factor, shape);
}

// Replaces the axes [from, from + count) of a factor, which have size 1, by `new_count` axes of
// size 1.
NodeRef with_ones(const NodeRef& factor, int64_t from, int64_t count, int64_t new_count) {
  Shape shape;
  for (int64_t d = 0; d < from; ++d) shape.append(factor->shape[d]);
  for (int64_t d = 0; d < new_count; ++d) shape.append(1);
  for (int64_t d = from + count; d < factor->shape.rank; ++d) shape.append(factor->shape[d]);
  return reshape(factor, shape);
}

// For a tensor reshaped from `old` to `now`: axes that are neither merged nor split are kept.
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

// The factor inside of a slice, false around it.
NodeRef embedded(const NodeRef& factor, Shape around, const StridedSlice& range) {
  const StridedSlice own = slice_for(factor, range, &around);
  return embed(factor, around, own);
}

NodeRef taken(const NodeRef& factor, const Node* node) {
  const NodeRef indices(node->inputs().back());
  const int64_t axis = node->attr.axis;
  if (factor->shape[axis] == 1) return with_ones(factor, axis, 1, indices->shape.rank);
  return take(factor, indices, axis);
}

// The axes of the entries at the positions of a take or scatter_add.
AxisMask axes_of_positions(const Node* node) {
  return static_cast<AxisMask>(all_axes(node->in[1]->shape.rank) << node->attr.axis);
}

// A position that occurs several times receives the entries of all of them. `from`: the shape of
// the factor's tensor; `length`: the size of the axis that the positions index.
NodeRef scattered(const NodeRef& factor, const Node* node, const Shape& from, int64_t length) {
  const int64_t axis = node->attr.axis;
  const NodeRef indices(node->in[1]);
  const int64_t count = indices->shape.rank;
  if (!varies(factor.get(), factor->shape.rank, axes_of_positions(node))) {
    return with_ones(factor, axis, count, 1);
  }
  return scatter_add(widened(factor, from, axis, count), indices, axis, length);
}

// `shape`: of the factor's tensor.
NodeRef picked(const NodeRef& factor, const Shape& shape, const Node* indices) {
  const int64_t last = factor->shape.rank - 1;
  if (factor->shape[last] == 1) return with_ones(factor, last, 1, 0);
  return pick(broadcast_to(factor, shape), NodeRef(const_cast<Node*>(indices)));
}

// An entry depends on the entries before it, or affects those after it: it is a structural zero if
// all of these are.
NodeRef scanned(const NodeRef& factor, const Node* node, Direction direction) {
  if (factor->shape[node->attr.axis] == 1) return factor;
  const bool reversed = node->attr.reversed != (direction == Direction::ToInput);
  return scan(Op::cumulative_max, factor, node->attr.axis, reversed);
}

NodeRef part_of(const NodeRef& factor, const Node* concat, size_t k) {
  const int64_t axis = concat->attr.axis;
  if (factor->shape[axis] == 1) return factor;
  int64_t start = 0;
  for (size_t i = 0; i < k; ++i) start += concat->inputs()[i]->shape[axis];
  return narrow(factor, axis, start, concat->inputs()[k]->shape[axis]);
}

NodeRef resorted(const NodeRef& factor, const Node* sort) {
  if (factor->shape[sort->attr.axis] == 1) return factor;
  return unsorted(broadcast_to(factor, sort->shape), sort);
}

NodeRef in_fold(const NodeRef& factor, const Node* fold, Direction direction) {
  if (fold->attr.keepdims) return factor;
  const Shape& input = fold->in[0]->shape;
  Shape shape;
  for (int64_t d = 0, kept = 0; d < input.rank; ++d) {
    const bool folded = fold->attr.axes >> d & 1;
    if (direction == Direction::ToResult) {
      if (!folded) shape.append(factor->shape[d]);
    } else {
      shape.append(folded ? 1 : factor->shape[kept++]);
    }
  }
  return reshape(factor, shape);
}

NodeRef in_step(const Node* node, const NodeRef& factor, size_t k, Direction direction) {
  const bool to_input = direction == Direction::ToInput;
  switch (traits(node->op).step) {
    case StepKind::Embed:
      return to_input ? sliced(factor, node->in[0]->shape, *node->slice)
                      : embedded(factor, node->shape, *node->slice);
    case StepKind::Scan:
      return scanned(factor, node, direction);
    case StepKind::Indexed:
      if ((node->op == Op::take) == to_input) {
        const Shape& from = to_input ? node->shape : node->in[0]->shape;
        const Shape& to = to_input ? node->in[0]->shape : node->shape;
        if (node->op != Op::at_index) return scattered(factor, node, from, to[node->attr.axis]);
        return nullptr;
      }
      return node->op == Op::at_index && k == 0 ? factor : taken(factor, node);
    // Tangents of several inputs meet in these: see joined_upwards.
    case StepKind::Concat:
      return to_input ? part_of(factor, node, k) : nullptr;
    case StepKind::AtSlice:
      if (!to_input || k == 0) return to_input ? factor : nullptr;
      return sliced(factor, node->in[1]->shape, *node->slice);
    case StepKind::Sort:
      return to_input ? resorted(factor, node) : nullptr;
    case StepKind::Product:
    case StepKind::None:
    case StepKind::ArgFold:
    case StepKind::Search:
    case StepKind::Convolve:
    case StepKind::Pool:
    case StepKind::Iota:
    case StepKind::Random:
    case StepKind::Callback:
    case StepKind::Control:
    case StepKind::Library:
    case StepKind::Output:
      break;
  }
  return nullptr;
}

// The axes along which entries meet in several sums; 0: they do not.
AxisMask mixed_axes(const Node* node, Direction direction) {
  if (direction == Direction::ToInput) return node->op == Op::take ? axes_of_positions(node) : 0;
  if (node->op == Op::cumulative_sum) return axis_bit(node->attr.axis);
  return node->op == Op::scatter_add ? axes_of_positions(node) : 0;
}

}  // namespace

NodeRef move_factor(const Node* node, const NodeRef& one, size_t k, Direction direction) {
  const bool to_input = direction == Direction::ToInput;
  const Shape& input = node->inputs()[k]->shape;
  const Shape& from = to_input ? node->shape : input;
  const Shape& to = to_input ? input : node->shape;
  if (node->op == Op::transfer) {
    return transfer(one, to_input ? node->inputs()[k]->device() : node->device());
  }
  if (one->shape.size() == 1) return one->shape.rank ? reshape(one, {}) : one;
  if (from.size() == 0) return nullptr;
  const NodeRef factor = aligned(one, from.rank);
  const OpTraits& op = traits(node->op);
  switch (op.kind) {
    case OpKind::Leaf:
      return nullptr;
    case OpKind::Elementwise:
      return one;
    case OpKind::Fold:
      return in_fold(factor, node, direction);
    case OpKind::Pick:
    case OpKind::Place:
      if ((op.kind == OpKind::Pick) == to_input) return with_ones(factor, from.rank, 0, 1);
      return picked(factor, from, node->in[1]);
    case OpKind::Step:
      return in_step(node, factor, k, direction);
    case OpKind::View:
      break;
  }
  switch (op.view) {
    case ViewKind::None:
    case ViewKind::Alias:
    case ViewKind::Broadcast:  // summed down when it is added to a cotangent
      return one;
    case ViewKind::Reshape:
      return reshaped(factor, from, to);
    case ViewKind::Transpose: {
      if (to_input) return transpose(factor, inverse_order(node));
      std::vector<int64_t> order;
      for (int64_t d = 0; d < to.rank; ++d) order.push_back(node->attr.order[d]);
      return transpose(factor, order);
    }
    case ViewKind::Slice:
      return to_input ? embedded(factor, to, *node->slice) : sliced(factor, to, *node->slice);
  }
  return nullptr;
}

FactoredMask move_mask(const Node* node, const FactoredMask& nonzero, size_t k,
                       Direction direction) {
  FactoredMask rest = nonzero;
  FactoredMask out;
  if (const AxisMask axes = mixed_axes(node, direction)) {
    const bool to_input = direction == Direction::ToInput;
    rest = {};
    const int64_t rank = (to_input ? node->shape : node->in[0]->shape).rank;
    const NodeRef mixed = nonzero.differing(rank, axes, &rest);
    if (mixed) out.intersect(move_factor(node, mixed, k, direction));
  }
  for (const NodeRef& factor : rest.factors()) {
    out.intersect(move_factor(node, factor, k, direction));
  }
  return out;
}

}  // namespace pullback
