// Lowering of what is no tile group: products, copies, gather and scatter, random numbers.
#include <optional>
#include <utility>

#include "ops/reduce.h"
#include "plan/lowering.h"

namespace pullback {

// An operand with memory behind it: a scalar becomes a one-element array first.
View Lowering::operand(uint32_t member, size_t k) {
  const NodeView& read = a_.reads(member)[k];
  if (a_.kind[read.base] == Analysis::Number && slot_[read.base] < 0) {
    TileGroup group;
    group.count = 1;
    group.scalars.push_back(scalar_load(read.base));
    group.stores.push_back({0, {slot_of(read.base), nodes_[read.base]->dtype, 0, {}, {}}});
    add_step(std::move(group), nodes_[member]->op);
  }
  return view_of(read);
}

// The same, row-major without gaps: copied where it is not.
View Lowering::dense_operand(uint32_t member, size_t k) {
  View view = operand(member, k);
  if (is_row_major(a_.reads(member)[k])) return view;
  View copy{add_slot(SlotKind::Temporary, view.dtype, view.shape.size() * size_of(view.dtype)),
            view.dtype, 0, view.shape, row_major(view.shape)};
  add_step(Layout{view, copy}, nodes_[member]->op);
  return copy;
}

void Lowering::emit_other(uint32_t member) {
  const Node* node = nodes_[member];
  const Op op = node->op;
  switch (traits(op).kind) {
    case OpKind::Product:
      return emit_matmul(member);
    case OpKind::Concat:
      return emit_concat(member);
    case OpKind::Embed:
      return add_step(Layout{operand(member, 0), window_of(node), true}, op);
    case OpKind::AtWindow: {
      const View in = operand(member, 1);
      copy_base(member);
      return add_step(Layout{in, window_of(node), false, node->attr.update == Update::Add}, op);
    }
    case OpKind::Indexed:
      return emit_indexed(member);
    case OpKind::ArgFold: {
      const View in = dense_operand(member, 0);
      const FoldedShape f = folded_shape(in.shape, axis_bit(node->attr.axis));
      return add_step(ArgReduce{op, in, whole_view(member), f.outer, f.reduced, f.inner}, op);
    }
    case OpKind::Iota:
      return add_step(Iota{whole_view(member)}, op);
    case OpKind::Random:
      return add_step(Random{op, scalar_[a_.reads(member)[0].base],
                             scalar_[a_.reads(member)[1].base], whole_view(member)},
                      op);
    case OpKind::Leaf:  // not computed
    case OpKind::Alias:
    case OpKind::Reshape:
    case OpKind::Transpose:
    case OpKind::Broadcast:
    case OpKind::Slice:
    case OpKind::Elementwise:  // in groups
    case OpKind::Fold:
    case OpKind::Pick:
    case OpKind::Place:
      break;
  }
}

// The part of a node's memory that its window names.
View Lowering::window_of(const Node* node) {
  View place = whole_view(node->index);
  const Strides strides = place.strides;
  place.shape = node->in[node->op == Op::at_window]->shape;
  for (int64_t d = 0; d < place.shape.rank; ++d) {
    place.offset += node->window->start[d] * strides[d];
    place.strides[d] = strides[d] * node->window->step[d];
  }
  return place;
}

// at_window and at_index change a copy of their base, or the base itself.
void Lowering::copy_base(uint32_t member) {
  if (shares_[a_.reads(member)[0].base] == static_cast<int32_t>(member)) return;
  add_step(Layout{operand(member, 0), whole_view(member)}, nodes_[member]->op);
}

// An operand as [outer, middle, inner], the middle being `count` axes from `axis` on: copied
// where its axes do not merge.
View Lowering::three_axes(uint32_t member, size_t k, int64_t axis, int64_t count) {
  const Shape shape = a_.reads(member)[k].shape;
  Shape three;
  for (const auto& [from, to] : {std::pair{int64_t{0}, axis}, std::pair{axis, axis + count},
                                 std::pair{axis + count, int64_t{shape.rank}}}) {
    three.append(1);
    for (int64_t d = from; d < to; ++d) three[three.rank - 1] *= shape[d];
  }
  NodeView merged;
  if (!reshape_view(a_.reads(member)[k], three, &merged)) {
    View copy = dense_operand(member, k);
    copy.shape = three;
    copy.strides = row_major(three);
    return copy;
  }
  View view = operand(member, k);
  view.shape = std::move(three);
  view.strides = std::move(merged.strides);
  return view;
}

void Lowering::emit_indexed(uint32_t member) {
  const Node* node = nodes_[member];
  const bool based = node->op == Op::at_index;
  const int64_t axis = node->attr.axis;
  const View indices = dense_operand(member, based ? 2 : 1);
  if (node->op == Op::take) {
    const View in = three_axes(member, 0, axis, 1);
    const View out = whole_view(member);
    return add_step(Gather{in, indices, out, in.shape[0], in.shape[1], in.shape[2]}, node->op);
  }
  const View in = three_axes(member, based ? 1 : 0, axis, indices.shape.rank);
  if (based) copy_base(member);
  add_step(ScatterAdd{in, indices, whole_view(member), in.shape[0], node->shape[axis], in.shape[2],
                      based ? node->attr.update : Update::Add, !based},
           node->op);
}

void Lowering::emit_matmul(uint32_t member) {
  const Node* node = nodes_[member];
  View parts[2] = {operand(member, 0), operand(member, 1)};
  // Batch axes of the result: absent or length-1 axes of an operand have stride 0.
  const int64_t rank = node->shape.rank;
  for (View& part : parts) {
    View wide = part;
    wide.shape = node->shape;
    wide.strides = {};
    wide.strides.resize(rank);
    const int64_t lead = rank - part.shape.rank;
    for (int64_t d = lead; d < rank; ++d) {
      const bool batch = d < rank - 2;
      wide.strides[d] = batch && part.shape[d - lead] == 1 ? 0 : part.strides[d - lead];
      if (!batch) wide.shape[d] = part.shape[d - lead];
    }
    part = wide;
  }
  add_step(Gemm{parts[0], parts[1], whole_view(member), std::nullopt}, Op::matmul);
}

void Lowering::emit_concat(uint32_t member) {
  const Node* node = nodes_[member];
  const int64_t axis = node->attr.axis;
  View place = whole_view(member);
  const int64_t stride = place.strides[axis];
  for (size_t k = 0; k < a_.reads(member).size(); ++k) {
    const View in = operand(member, k);
    place.shape[axis] = in.shape[axis];
    add_step(Layout{in, place}, Op::concat);
    place.offset += in.shape[axis] * stride;
  }
}

}  // namespace pullback
