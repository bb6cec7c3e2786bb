// Moves the structural zeros of tangents through linear operations and products.

#include "grad/zeros/forward_masks.h"

#include "grad/zeros/mask_factors.h"
#include "ops/expr.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

// The factor of a fold's tangent, whose folded axes have size 1.
NodeRef without_axes(const NodeRef& factor, const Node* fold) {
  if (fold->attr.keepdims) return factor;
  Shape shape;
  for (int64_t d = 0; d < factor->shape.rank; ++d) {
    if (!(fold->attr.axes >> d & 1)) shape.append(factor->shape[d]);
  }
  return reshape(factor, shape);
}

// The axes of input 0 along which its entries meet in several sums; 0: they do not.
AxisMask mixed_axes(const Node* node) {
  if (node->op == Op::cumulative_sum) return axis_bit(node->attr.axis);
  if (node->op != Op::scatter_add) return 0;
  return static_cast<AxisMask>(all_axes(node->in[1]->shape.rank) << node->attr.axis);
}

// A sum is a structural zero if all its terms are.
NodeRef scanned(const NodeRef& factor, const Node* node) {
  if (factor->shape[node->attr.axis] == 1) return factor;
  return scan(Op::cumulative_max, factor, node->attr.axis, node->attr.reversed);
}

NodeRef scattered(const NodeRef& factor, const Node* node) {
  const int64_t axis = node->attr.axis;
  const NodeRef indices(node->in[1]);
  const int64_t count = indices->shape.rank;
  if (!varies(factor.get(), factor->shape.rank, mixed_axes(node))) {
    return with_ones(factor, axis, count, 1);
  }
  return scatter_add(widened(factor, node->in[0]->shape, axis, count), indices, axis,
                     node->shape[axis]);
}

// Where a factor for the tangent of input 0 goes in that of `node`. Null: nowhere.
NodeRef moved_factor(const Node* node, const NodeRef& one) {
  const Node* input = node->in[0];
  if (node->op == Op::transfer) return transfer(one, node->device());
  if (one->shape.size() == 1) return one->shape.rank ? reshape(one, {}) : one;
  if (input->shape.size() == 0) return nullptr;
  const NodeRef factor = aligned(one, input->shape.rank);
  switch (node->op) {
    case Op::reshape:
      return reshaped(factor, input->shape, node->shape);
    case Op::transpose: {
      std::vector<int64_t> order;
      for (int64_t d = 0; d < node->shape.rank; ++d) order.push_back(node->attr.order[d]);
      return transpose(factor, order);
    }
    case Op::slice:
      return sliced(factor, node->shape, *node->slice);
    case Op::embed:
      return embedded(factor, node->shape, *node->slice);
    case Op::take:
      return taken(factor, node->in[1], node->attr.axis);
    case Op::pick:
      return picked(factor, input->shape, node->in[1]);
    case Op::place:
      return with_ones(factor, factor->shape.rank, 0, 1);
    case Op::scatter_add:
      return scattered(factor, node);
    case Op::cumulative_sum:
      return scanned(factor, node);
    case Op::identity:
    case Op::broadcast_to:
      return one;
    default:
      return is_elementwise(node->op) ? one : nullptr;
  }
}

// The mask of the entries that come from the input; the rest are structural zeros. Null: all do.
NodeRef own_place(const Node* node) {
  const Node* input = node->in[0];
  switch (node->op) {
    case Op::embed:
      return slice_mask(input->shape, node->shape, *node->slice);
    case Op::place:
      return place(ones(input->shape, DType::Bool), NodeRef(node->in[1]),
                   node->shape[node->shape.rank - 1]);
    case Op::scatter_add: {
      const int64_t axis = node->attr.axis;
      Shape rows = input->shape;
      for (int64_t d = 0; d < rows.rank; ++d) {
        if (d < axis || d >= axis + node->in[1]->shape.rank) rows[d] = 1;
      }
      return scatter_add(ones(rows, DType::Bool), NodeRef(node->in[1]), axis, node->shape[axis]);
    }
    default:
      return nullptr;
  }
}

FactoredMask moved_in_product(const Node* product, const FactoredMask& nonzero, size_t k,
                              bool reduces) {
  const int64_t rank = product->in[k]->shape.rank;
  FactoredMask out;
  const FactoredMask folded = nonzero.folded(rank, axis_bit(k == 0 ? rank - 1 : rank - 2), reduces);
  // Batch axes broadcast as those of the operand; the contracted axis has size 1.
  for (const NodeRef& factor : folded.factors()) out.intersect(factor);
  return out;
}

}  // namespace

bool mixes_upwards(const Node* node) {
  switch (node->op) {
    case Op::matmul:
    case Op::sum:
    case Op::scatter_add:
    case Op::cumulative_sum:
      return true;
    default:
      return false;
  }
}

FactoredMask moved_upwards(const Node* node, const FactoredMask& nonzero, size_t k, Zeros zeros) {
  const bool reduces = zeros >= Zeros::Keep;
  FactoredMask out;
  if (node->op == Op::matmul) return moved_in_product(node, nonzero, k, zeros >= Zeros::Far);
  if (node->op == Op::sum) {
    const FactoredMask folded = nonzero.folded(node->in[0]->shape.rank, node->attr.axes, reduces);
    for (const NodeRef& factor : folded.factors()) {
      out.intersect(without_axes(aligned(factor, node->in[0]->shape.rank), node));
    }
    return out;
  }
  FactoredMask rest = nonzero;
  if (const AxisMask axes = mixed_axes(node)) {
    rest = {};
    const NodeRef mixed = nonzero.differing(node->in[0]->shape.rank, axes, &rest);
    if (mixed) out.intersect(moved_factor(node, mixed));
  }
  for (const NodeRef& factor : rest.factors()) out.intersect(moved_factor(node, factor));
  if (reduces) out.intersect(own_place(node));
  return out;
}

NodeRef guarded_upwards(const Node* product, const FactoredMask& nonzero, size_t k, Zeros zeros) {
  NodeRef other(product->in[1 - k]);
  const bool reduces = zeros >= Zeros::Far;
  const int64_t rank = product->in[k]->shape.rank;
  const int64_t rows = rank - 2;
  const int64_t columns = rank - 1;
  const FactoredMask all = nonzero.folded(rank, axis_bit(k == 0 ? rows : columns), reduces);
  FactoredMask uses;
  for (const NodeRef& factor : all.factors()) {  // the others are in the mask of the result
    if (!varies(factor.get(), rank, axis_bit(k == 0 ? columns : rows))) continue;
    std::vector<int64_t> order;
    for (int64_t d = 0; d < rows; ++d) order.push_back(d);
    order.push_back(columns);
    order.push_back(rows);
    uses.intersect(transpose(aligned(factor, rank), order));
  }
  if (uses.everywhere()) return other;
  Shape from = product->shape;
  const Shape& own = other->shape;
  for (int64_t d = 1; d <= 2; ++d) from[from.rank - d] = own[own.rank - d];
  uses = uses.summed(from, own, reduces);
  if (uses.everywhere()) return other;
  return formula::where(Expr(uses.tensor()), Expr(other), scalar(other->dtype, 0));
}

bool selects(const Node* node) {
  switch (node->op) {
    case Op::max:
    case Op::min:
    case Op::sort:
    case Op::cumulative_max:
    case Op::cumulative_min:
      return true;
    default:
      return false;
  }
}

NodeRef joined_upwards(const Node* node, std::span<const Part> parts, Zeros zeros) {
  bool everywhere = true;
  for (const Part& part : parts) everywhere &= part.has_tangent && part.nonzero.everywhere();
  const bool stops = traits(node->op).mask == Mask::Stops;
  if (everywhere || stops || zeros < Zeros::Keep) return nullptr;
  std::vector<NodeRef> masks;
  for (size_t k = 0; k < parts.size(); ++k) {
    const Shape& shape = node->inputs()[k]->shape;
    masks.push_back(!parts[k].has_tangent ? pullback::zeros(shape, DType::Bool)
                    : parts[k].nonzero.everywhere()
                        ? ones(shape, DType::Bool)
                        : broadcast_to(parts[k].nonzero.tensor(), shape));
  }
  const Attr& attr = node->attr;
  // For bools, adding is "or". An update that multiplies keeps the tangents of both operands.
  const Update update = attr.update == Update::Set ? Update::Set : Update::Add;
  switch (node->op) {
    case Op::concat:
      return concat(masks, attr.axis);
    case Op::at_slice:
      return at_slice(masks[0], masks[1], *node->slice, update);
    case Op::at_index:
      return at_index(masks[0], masks[1], NodeRef(node->in[2]), attr.axis, update, attr.unique);
    case Op::cumulative_prod:
      return scanned(masks[0], node);
    case Op::linear_recurrence:
      return scanned(Expr(masks[0]) | Expr(masks[1]), node);
    default:
      return nullptr;
  }
}

bool has_parts(const Node* node) {
  const bool updates = node->op == Op::at_slice || node->op == Op::at_index;
  const bool linear = node->attr.update == Update::Set || node->attr.update == Update::Add;
  return node->op == Op::concat || (updates && linear);
}

}  // namespace pullback
