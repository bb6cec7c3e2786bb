// The axes that the table indexes are moved in front, and back afterwards.

#include "transform/batch_index.h"

#include "graph/make.h"
#include "graph/rule.h"
#include "ops/expr.h"

namespace pullback {
namespace {

// The numbers 0 … count-1, followed by `rank` axes of size 1.
NodeRef along_batch(int64_t count, int64_t rank) {
  Shape shape{count};
  for (int64_t d = 0; d < rank; ++d) shape.append(1);
  return reshape(iota(count), shape);
}

Expr integer(int64_t value) { return scalar(DType::Int64, static_cast<double>(value)); }

// Positions in the concatenated table. A position outside of its own table is mapped outside of
// all.
NodeRef positions_in_all(const NodeRef& indices, int64_t count, int64_t length) {
  const Expr at = cast(indices, DType::Int64);
  const Expr own = formula::where(at < integer(0), at + integer(length), at);
  const Expr first = Expr(along_batch(count, indices->shape.rank - 1)) * integer(length);
  const Expr all = integer(count * length);
  const Expr beyond = formula::where(at < integer(0), at - all, at + all);
  const Expr inside = (!(own < integer(0))) & (own < integer(length));
  return formula::where(inside, own + first, beyond);
}

// Transposes [batch, before…, block…, after…], so that the block (`width` axes from `axis` of an
// entry) comes in front of `before`; `back` inverts it.
NodeRef block_first(const NodeRef& x, int64_t axis, int64_t width, bool back) {
  std::vector<int64_t> order{0};
  const int64_t rank = x->shape.rank;
  const int64_t lead = back ? width : axis;
  const int64_t moved = back ? axis : width;
  for (int64_t d = 0; d < moved; ++d) order.push_back(1 + lead + d);
  for (int64_t d = 0; d < lead; ++d) order.push_back(1 + d);
  for (int64_t d = 1 + axis + width; d < rank; ++d) order.push_back(d);
  return transpose(x, order);
}

// Merges the first two axes.
NodeRef merge_first_axes(const NodeRef& x) {
  Shape shape{x->shape[0] * x->shape[1]};
  for (int64_t d = 2; d < x->shape.rank; ++d) shape.append(x->shape[d]);
  return reshape(x, shape);
}
NodeRef split_first_axis(const NodeRef& x, int64_t count) {
  Shape shape{count, count ? x->shape[0] / count : 0};
  for (int64_t d = 1; d < x->shape.rank; ++d) shape.append(x->shape[d]);
  return reshape(x, shape);
}

// The first axis becomes the last.
NodeRef first_axis_last(const NodeRef& x) {
  std::vector<int64_t> order;
  for (int64_t d = 1; d < x->shape.rank; ++d) order.push_back(d);
  order.push_back(0);
  return transpose(x, order);
}

// A pending operation without a rule of its own, of which another form may be evaluated.
bool is_replaceable(const Node* node) { return !node->has_value() && !node->rule; }

}  // namespace

NodeRef batched_index(const Node* node, std::span<const NodeRef> in, int64_t count) {
  const Attr& attr = node->attr;
  const int64_t axis = attr.axis;
  const NodeRef& indices = in.back();
  const int64_t width = indices->shape.rank - 1;
  if (node->op == Op::take && in[0]->shape.rank == node->in[0]->shape.rank) {
    const NodeRef taken = take(in[0], indices, axis);  // one table: the batch is at `axis`
    std::vector<int64_t> order{axis};
    for (int64_t d = 0; d < taken->shape.rank; ++d) {
      if (d != axis) order.push_back(d);
    }
    return transpose(taken, order);
  }
  const int64_t length = node->op == Op::scatter_add ? node->shape[axis] : node->in[0]->shape[axis];
  const NodeRef at = positions_in_all(indices, count, length);
  if (node->op == Op::take) {
    const NodeRef table = merge_first_axes(block_first(in[0], axis, 1, false));
    return block_first(take(table, at, 0), axis, width, true);
  }
  if (node->op == Op::scatter_add) {
    const NodeRef x = block_first(in[0], axis, width, false);
    return block_first(split_first_axis(scatter_add(x, at, 0, count * length), count), axis, 1,
                       true);
  }
  const NodeRef table = merge_first_axes(block_first(in[0], axis, 1, false));
  const NodeRef value = block_first(in[1], axis, width, false);
  const NodeRef updated = at_index(table, value, at, 0, attr.update, attr.unique);
  return block_first(split_first_axis(updated, count), axis, 1, true);
}

NodeRef batched_search(const Node* node, const NodeRef& sorted, const NodeRef& x, int64_t count) {
  const int64_t rank = node->in[1]->shape.rank;
  Shape narrow{x->shape.rank > rank ? count : 1};
  Shape wide{count};
  for (int64_t d = 0; d < rank; ++d) {
    narrow.append(node->in[1]->shape[d]);
    wide.append(1);
  }
  narrow.append(1);
  wide.append(node->in[0]->shape[0]);
  const Expr entries = reshape(sorted, wide);
  const Expr one = reshape(x, narrow);
  Expr before = node->attr.reversed ? entries <= one : entries < one;
  if (is_float(x->dtype)) {  // NaN counts as the largest
    const Expr last = formula::isnan(one);
    before = before | (node->attr.reversed ? last : last & !formula::isnan(entries));
  }
  return reduce(Op::sum, before, std::vector<int64_t>{-1}, false);
}

NodeRef batch_last(const NodeRef& x) {
  const NoOverrides none;
  std::vector<const Node*> unary;  // operations between the take and `x`, the last one first
  const Node* node = x.get();
  for (; is_replaceable(node) && is_elementwise(node->op) && node->inputs_count == 1;
       node = node->in[0]) {
    unary.push_back(node);
  }
  const bool moves = is_replaceable(node) && node->op == Op::take && node->attr.axis > 0 &&
                     node->in[0]->shape.size() <= node->shape.size();
  if (!moves) return first_axis_last(x);
  NodeRef table = first_axis_last(NodeRef(node->in[0]));
  for (size_t i = unary.size(); i-- > 0;) {
    Node* inputs[] = {table.get()};
    table = make_node(unary[i]->op, unary[i]->dtype, table->shape, inputs, unary[i]->attr);
    table->in_composite = unary[i]->in_composite;
  }
  Shape shape;
  for (int64_t d = 1; d < x->shape.rank; ++d) shape.append(x->shape[d]);
  shape.append(x->shape[0]);
  Attr attr = node->attr;
  --attr.axis;
  Node* inputs[] = {table.get(), node->in[1]};
  NodeRef out = make_node(Op::take, x->dtype, shape, inputs, attr);
  out->in_composite = node->in_composite;
  return out;
}

}  // namespace pullback
