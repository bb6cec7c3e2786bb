// Builders and rules of scans, sorts and searchsorted.
//
// Gradients of all scans are scans. A linear recurrence r[i] = a[i] r[i-1] + x[i] is its own
// adjoint in the opposite direction, and needs no division.

#include "ops/order.h"

#include "base/error.h"
#include "graph/make.h"
#include "ops/complex.h"
#include "ops/expr.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

using namespace formula;

// Entry i is entry i+1 (or i-1) of x along the axis, and `fill` at the end.
NodeRef shifted(const NodeRef& x, int64_t axis, bool from_next, double fill) {
  const int64_t n = x->shape[axis];
  if (n == 0) return x;
  Shape edge = x->shape;
  edge[axis] = 1;
  NodeRef end = broadcast_to(scalar(x->dtype, fill), edge);
  if (n == 1) return end;
  const NodeRef kept = narrow(x, axis, from_next ? 1 : 0, n - 1);
  const NodeRef parts[] = {from_next ? kept : end, from_next ? end : kept};
  return concat(parts, axis);
}

NodeRef scan_node(Op op, DType dtype, std::span<Node* const> inputs, int64_t axis, bool reversed) {
  Attr attr;
  attr.axis = static_cast<int8_t>(axis);
  attr.reversed = reversed;
  return make_node(op, dtype, inputs.back()->shape, inputs, attr);
}

// By doubling, in log n multiplications.
NodeRef complex_product_scan(const NodeRef& x, int64_t axis, bool reversed) {
  const int64_t n = x->shape[axis];
  NodeRef out = x;
  for (int64_t d = 1; d < n; d *= 2) {
    const auto parts = [&](int64_t first) { return split(out, {first, n - first}, axis); };
    const auto low = parts(d);
    const auto high = parts(n - d);
    const NodeRef more = Expr(low[1]) * Expr(high[0]);
    const NodeRef both[] = {reversed ? more : low[0], reversed ? high[1] : more};
    out = concat(both, axis);
  }
  return out;
}

}  // namespace

NodeRef scan(Op op, const NodeRef& x, int64_t requested, bool reversed) {
  const int64_t axis = normal_axis(requested, x->shape.rank, name_of(op));
  if (is_complex(x->dtype) && op == Op::cumulative_prod) {
    return complex_product_scan(x, axis, reversed);
  }
  if (op != Op::cumulative_sum) refuse_complex(x.get(), name_of(op));
  const bool sums = op == Op::cumulative_sum || op == Op::cumulative_prod;
  const bool wide = sums && (is_integer(x->dtype) || x->dtype == DType::Bool);
  const DType dtype = wide ? traits(x->dtype).accumulator : x->dtype;
  if (is_storage(x->dtype)) {
    const DType within = wide ? dtype : widened(x->dtype);
    return cast(scan(op, cast(x, within), requested, reversed), dtype);
  }
  return scan_node(op, dtype, pointers({&x, 1}), axis, reversed);
}

NodeRef linear_recurrence(const NodeRef& factors, const NodeRef& x, int64_t requested,
                          bool reversed) {
  constexpr const char* kWho = "linear_recurrence";
  refuse_complex(x.get(), kWho);
  if (factors->dtype != x->dtype || !(factors->shape == x->shape) || x->dtype == DType::Bool) {
    fail(ErrorKind::Value, kWho, ": expected numbers of one dtype and shape, got ", factors->dtype,
         " ", factors->shape, " and ", x->dtype, " ", x->shape);
  }
  if (is_storage(x->dtype)) {
    const DType within = widened(x->dtype);
    return cast(linear_recurrence(cast(factors, within), cast(x, within), requested, reversed),
                x->dtype);
  }
  Node* inputs[] = {factors.get(), x.get()};
  return scan_node(Op::linear_recurrence, x->dtype, inputs,
                   normal_axis(requested, x->shape.rank, kWho), reversed);
}

NodeRef sort(Op op, const NodeRef& x, int64_t requested, bool descending) {
  refuse_complex(x.get(), name_of(op));
  if (is_storage(x->dtype)) {
    const NodeRef out = sort(op, cast(x, widened(x->dtype)), requested, descending);
    return op == Op::argsort ? out : cast(out, x->dtype);
  }
  const int64_t axis = normal_axis(requested, x->shape.rank, name_of(op));
  return scan_node(op, op == Op::argsort ? DType::Int64 : x->dtype, pointers({&x, 1}), axis,
                   descending);
}

NodeRef searchsorted(const NodeRef& sorted, const NodeRef& x, bool right) {
  if (sorted->shape.rank != 1) {
    fail(ErrorKind::Value, "searchsorted: expected a sorted vector, got shape ", sorted->shape);
  }
  refuse_complex(sorted.get(), "searchsorted");
  refuse_complex(x.get(), "searchsorted");
  const DType dtype = widened(promote(natural_dtype(sorted.get()), natural_dtype(x.get())));
  const NodeRef among = cast(sorted, dtype);
  const NodeRef values = cast(x, dtype);
  Attr attr;
  attr.reversed = right;
  Node* inputs[] = {among.get(), values.get()};
  return make_node(Op::searchsorted, DType::Int64, values->shape, inputs, attr);
}

// --- rules

void cumulative_sum_vjp(const VjpCall& call, Cotangent* out) {
  const Attr& attr = call.node->attr;
  const NodeRef g = scan(Op::cumulative_sum, call.g, attr.axis, !attr.reversed);
  out[0] = {Cotangent::Value, cast(g, call.node->in[0]->dtype), nullptr};
}

// For y[i] = x[0] … x[i]: the product before x[j] times R[j] = g[j] + x[j+1] R[j+1].
void cumulative_prod_vjp(const VjpCall& call, Cotangent* out) {
  const Attr& attr = call.node->attr;
  const NodeRef x = cast(NodeRef(call.node->in[0]), call.node->dtype);
  const NodeRef before = shifted(call.node, attr.axis, attr.reversed, 1);
  const NodeRef behind = linear_recurrence(shifted(x, attr.axis, !attr.reversed, 0), call.g,
                                           attr.axis, !attr.reversed);
  const Expr product = Expr(before) * Expr(behind);
  out[0] = {Cotangent::Value, cast(product, call.node->in[0]->dtype), nullptr};
}

// Entries equal to the extreme so far share its gradient equally, as in max and min: entry i gives
// g[i] / count[i] to each of them, summed while the extreme stays the same.
void cumulative_extremum_vjp(const VjpCall& call, Cotangent* out) {
  if (!is_float(call.node->dtype)) return;
  const Attr& attr = call.node->attr;
  const int64_t axis = attr.axis;
  const bool reversed = attr.reversed;
  const DType dtype = call.node->dtype;
  const NodeRef x(call.node->in[0]);
  const NodeRef y =
      agrees(call.node, x.get()) ? NodeRef(call.node) : scan(call.node->op, x, axis, reversed);
  const Expr wins = same(Expr(x), Expr(y));
  const NodeRef stays = same(Expr(y), Expr(shifted(y, axis, reversed, 0)));
  const NodeRef goes_on = cast(stays, dtype);
  const Expr count = linear_recurrence(goes_on, cast(wins, dtype), axis, reversed);
  const NodeRef later = shifted(goes_on, axis, !reversed, 0);
  const NodeRef share = Expr(call.g) / count;
  out[0] = mask(wins, linear_recurrence(later, share, axis, !reversed));
}

void linear_recurrence_vjp(const VjpCall& call, Cotangent* out) {
  const Attr& attr = call.node->attr;
  const NodeRef factors(call.node->in[0]);
  const NodeRef g = linear_recurrence(shifted(factors, attr.axis, !attr.reversed, 0), call.g,
                                      attr.axis, !attr.reversed);
  if (call.live[0]) {
    out[0] = {Cotangent::Value, Expr(g) * Expr(shifted(call.node, attr.axis, attr.reversed, 0)),
              nullptr};
  }
  if (call.live[1]) out[1] = {Cotangent::Value, g, nullptr};
}

NodeRef unsorted(const NodeRef& g, const Node* node) {
  const int64_t axis = node->attr.axis;
  const NodeRef positions = sort(Op::argsort, NodeRef(node->in[0]), axis, node->attr.reversed);
  const FoldedShape f = folded_shape(g->shape, axis_bit(axis));
  if (f.outer == 1 && f.inner == 1) {
    const NodeRef flat =
        scatter_add(reshape(g, {f.reduced}), reshape(positions, {f.reduced}), 0, f.reduced);
    return reshape(flat, g->shape);
  }
  const auto along = [](int64_t count, int64_t step, const Shape& shape) {
    return reshape(arange(scalar(DType::Int64, 0), count,
                          scalar(DType::Int64, static_cast<double>(step)), DType::Int64),
                   shape);
  };
  const int64_t size = g->shape.size();
  const Expr three = reshape(positions, {f.outer, f.reduced, f.inner});
  const Expr inner = scalar(DType::Int64, static_cast<double>(f.inner));
  const Expr flat = three * inner + Expr(along(f.outer, f.reduced * f.inner, {f.outer, 1, 1})) +
                    Expr(along(f.inner, 1, {1, 1, f.inner}));
  return reshape(scatter_add(reshape(g, {size}), reshape(flat, {size}), 0, size), g->shape);
}

void sort_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, unsorted(call.g, call.node), nullptr};
}

}  // namespace pullback
