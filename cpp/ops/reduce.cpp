// Builders and rules of reductions. A node folds one contiguous block of axes, so backends see only
// [outer, reduced, inner]. Other sets of axes are folded block by block.

#include "ops/reduce.h"

#include "base/error.h"
#include "graph/make.h"
#include "ops/complex.h"
#include "ops/composite.h"
#include "ops/expr.h"

namespace pullback {

AxisMask axes_mask(const Shape& shape, const Axes& axes, const char* who) {
  if (!axes) return all_axes(shape.rank);
  AxisMask mask = 0;
  for (int64_t axis : *axes) {
    const int64_t at = normal_axis(axis, shape.rank, who);
    if (mask >> at & 1) {
      fail(ErrorKind::Value, who, ": expected distinct axes, got axis ", at, " twice");
    };
    mask |= axis_bit(at);
  }
  return mask;
}

Shape folded(const Shape& shape, AxisMask mask, bool keepdims) {
  Shape out;
  for (int64_t i = 0; i < shape.rank; ++i) {
    if (!(mask >> i & 1)) {
      out.append(shape[i]);
    } else if (keepdims) {
      out.append(1);
    }
  }
  return out;
}

namespace {

DType sum_dtype(DType dtype) { return is_inexact(dtype) ? dtype : traits(dtype).accumulator; }

NodeRef fold_block(Op op, const NodeRef& x, AxisMask mask, bool keepdims) {
  Attr attr;
  attr.axes = mask;
  attr.keepdims = keepdims;
  return make_node(op, op == Op::sum ? sum_dtype(x->dtype) : x->dtype,
                   folded(x->shape, mask, keepdims), pointers({&x, 1}), attr);
}

// The cotangent with the folded axes restored, with size 1.
NodeRef keep_axes(const NodeRef& g, const Node* reduction) {
  return reshape(g, folded(reduction->in[0]->shape, reduction->attr.axes, true));
}

}  // namespace

FoldedShape folded_shape(const Shape& shape, AxisMask axes) {
  FoldedShape out;
  bool seen = false;
  for (int64_t i = 0; i < shape.rank; ++i) {
    if (axes >> i & 1) {
      out.reduced *= shape[i];
      seen = true;
    } else {
      (seen ? out.inner : out.outer) *= shape[i];
    }
  }
  return out;
}

NodeRef reduce(Op op, const NodeRef& input, const Axes& axes, bool keepdims) {
  const char* who = name_of(op);
  NodeRef x = input;
  if (op == Op::all || op == Op::any) x = cast(x, DType::Bool);
  if (x->dtype == DType::Bool && op == Op::max) op = Op::any;
  if (x->dtype == DType::Bool && op == Op::min) op = Op::all;
  if (op != Op::sum) refuse_complex(x.get(), who);
  const AxisMask mask = axes_mask(x->shape, axes, who);
  if (op == Op::max || op == Op::min) {
    for (int64_t i = 0; i < x->shape.rank; ++i) {
      if ((mask >> i & 1) && x->shape[i] == 0) {
        fail(ErrorKind::Value, who, ": expected at least one element along axis ", i,
             ", got shape ", x->shape);
      }
    }
  }
  if (mask == 0) return op == Op::sum ? cast(x, sum_dtype(x->dtype)) : x;
  // Splits the axes into contiguous blocks, last block first, so that earlier axes keep their
  // number.
  AxisMask blocks[kMaxRank];
  int count = 0;
  for (int64_t i = kMaxRank - 1; i >= 0; --i) {
    if (!(mask >> i & 1)) continue;
    AxisMask block = 0;
    for (; i >= 0 && (mask >> i & 1); --i) block |= axis_bit(i);
    blocks[count++] = block;
  }
  if (count == 1) return fold_block(op, x, mask, keepdims);
  const Shape result = folded(x->shape, mask, keepdims);
  NodeRef y = x;
  for (int i = 0; i < count; ++i) y = fold_block(op, y, blocks[i], true);
  y = reshape(y, result);
  return is_float(x->dtype) && op != Op::sum ? extremum(op, y, x, mask, keepdims) : y;
}

NodeRef arg_reduce(Op op, const NodeRef& input, std::optional<int64_t> axis, bool keepdims) {
  const char* who = name_of(op);
  refuse_complex(input.get(), who);
  NodeRef x = cast(input, widened(input->dtype));
  Shape kept;
  if (axis) {
    const int64_t at = normal_axis(*axis, x->shape.rank, who);
    kept = folded(x->shape, axis_bit(at), keepdims);
    axis = at;
  } else {
    if (keepdims) kept = folded(x->shape, all_axes(x->shape.rank), true);
    x = reshape(x, {x->shape.size()});
    axis = 0;
  }
  if (x->shape[*axis] == 0) {
    fail(ErrorKind::Value, who, ": expected at least one element along axis ", *axis,
         ", got shape ", input->shape);
  }
  Attr attr;
  attr.axis = static_cast<int8_t>(*axis);
  return make_node(op, DType::Int64, kept, pointers({&x, 1}), attr);
}

NodeRef sum_to(const NodeRef& x, const Shape& shape) {
  if (x->shape == shape) return x;
  const int64_t lead = x->shape.rank - shape.rank;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < x->shape.rank; ++i) {
    if (i < lead || (shape[i - lead] == 1 && x->shape[i] != 1)) axes.push_back(i);
  }
  return reshape(axes.empty() ? x : reduce(Op::sum, x, axes, false), shape);
}

// --- rules

void sum_vjp(const VjpCall& call, Cotangent* out) {
  const Node* x = call.node->in[0];
  const NodeRef kept = keep_axes(call.g, call.node);
  const NodeRef g = cast(kept, x->dtype);
  out[0] = {Cotangent::Value, broadcast_to(g, x->shape), nullptr};
}

bool agrees(const Node* y, const Node* x) {
  return is_leaf(x->op) || x->op == Op::read || (x->has_value() && !y->has_value());
}

// Entries equal to the extreme share equally; if the result is NaN, the NaN entries share it.
Cotangent extremum_cotangent(Op op, const NodeRef& y, const NodeRef& g, const NodeRef& x) {
  using namespace formula;
  const AxisMask axes = y->attr.axes;
  const Shape kept = folded(x->shape, axes, true);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < kept.rank; ++i) {
    if (axes >> i & 1) numbers.push_back(i);
  }
  const NodeRef top = agrees(y.get(), x.get()) ? y : reduce(op, x, numbers, y->attr.keepdims);
  const Expr wins = same(x, Expr(reshape(top, kept)));
  const Expr count = reduce(Op::sum, cast(wins, widened(x->dtype)), numbers, true);
  const Expr share = cast(Expr(reshape(g, kept)) / count, x->dtype);
  return mask(wins, broadcast_to(share, x->shape));
}

void extremum_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = extremum_cotangent(call.node->op, call.node, call.g, call.node->in[0]);
}

}  // namespace pullback
