// Indexing by a tensor of positions along one axis. Positions are values, so a bad one is found
// when the plan runs (IndexError); everything else is checked here.

#include "ops/index.h"

#include "base/error.h"
#include "graph/make.h"

namespace pullback {
namespace {

void check_indices(const NodeRef& indices, const char* who) {
  if (!is_integer(indices->dtype)) {
    fail(ErrorKind::Type, who, ": expected integer indices, got ", indices->dtype);
  }
}

}  // namespace

NodeRef take(const NodeRef& x, const NodeRef& indices, int64_t wish) {
  check_indices(indices, "take");
  const int64_t axis = normal_axis(wish, x->shape.rank, "take");
  if (x->shape.rank - 1 + indices->shape.rank > kMaxRank) {
    fail(ErrorKind::Value, "take: the result would have rank ",
         x->shape.rank - 1 + indices->shape.rank, ", more than the supported ", kMaxRank);
  }
  Shape shape;
  for (int64_t i = 0; i < axis; ++i) shape.append(x->shape[i]);
  for (int64_t i = 0; i < indices->shape.rank; ++i) shape.append(indices->shape[i]);
  for (int64_t i = axis + 1; i < x->shape.rank; ++i) shape.append(x->shape[i]);
  check_shape(shape, "take");
  Attr attr;
  attr.axis = static_cast<int8_t>(axis);
  Node* inputs[] = {x.get(), indices.get()};
  return make_node(Op::take, x->dtype, shape, inputs, attr);
}

NodeRef scatter_add(const NodeRef& x, const NodeRef& indices, int64_t axis, int64_t length) {
  check_indices(indices, "scatter_add");
  Shape shape;
  for (int64_t i = 0; i < axis; ++i) shape.append(x->shape[i]);
  shape.append(length);
  for (int64_t i = axis + indices->shape.rank; i < x->shape.rank; ++i) shape.append(x->shape[i]);
  check_shape(shape, "scatter_add");
  Attr attr;
  attr.axis = static_cast<int8_t>(axis);
  Node* inputs[] = {x.get(), indices.get()};
  return make_node(Op::scatter_add, x->dtype, shape, inputs, attr);
}

NodeRef pick(const NodeRef& x, const NodeRef& indices) {
  check_indices(indices, "pick");
  Shape rows = x->shape;
  if (rows.rank > 0) rows.dim[--rows.rank] = 0;
  if (x->shape.rank == 0 || !(indices->shape == rows)) {
    fail(ErrorKind::Value, "pick: expected one index for each row of x ", x->shape,
         ", got indices of shape ", indices->shape);
  }
  const NodeRef at = cast(indices, DType::Int64);
  Node* inputs[] = {x.get(), at.get()};
  return make_node(Op::pick, x->dtype, rows, inputs);
}

NodeRef place(const NodeRef& x, const NodeRef& indices, int64_t length) {
  check_indices(indices, "place");
  if (!(indices->shape == x->shape)) {
    fail(ErrorKind::Value, "place: expected one index for each entry of x ", x->shape,
         ", got indices of shape ", indices->shape);
  }
  Shape shape = x->shape;
  shape.append(length);
  check_shape(shape, "place");
  const NodeRef at = cast(indices, DType::Int64);
  Node* inputs[] = {x.get(), at.get()};
  return make_node(Op::place, x->dtype, shape, inputs);
}

void take_vjp(const VjpCall& call, Cotangent* out) {
  const int64_t axis = call.node->attr.axis;
  const Node* x = call.node->in[0];
  const NodeRef indices = call.node->in[1];
  const int64_t length = x->shape[axis];
  // What was never taken is a structural zero; see slice_vjp.
  NodeRef mask;
  if (opdef(x->op).linear) {
    mask = scatter_add(ones(call.g->shape, DType::Bool), indices, axis, length);
  }
  out[0] = {Cotangent::Value, scatter_add(call.g, indices, axis, length), mask, true};
}

void scatter_add_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, take(call.g, call.node->in[1], call.node->attr.axis), nullptr};
}

// What was not picked is a structural zero; see slice_vjp.
void pick_vjp(const VjpCall& call, Cotangent* out) {
  const Node* x = call.node->in[0];
  const NodeRef indices = call.node->in[1];
  const int64_t length = x->shape[x->shape.rank - 1];
  NodeRef mask;
  if (opdef(x->op).linear) mask = place(ones(call.g->shape, DType::Bool), indices, length);
  out[0] = {Cotangent::Value, place(call.g, indices, length), mask, true};
}

void place_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, pick(call.g, call.node->in[1]), nullptr};
}

}  // namespace pullback
