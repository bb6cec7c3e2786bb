// The builder of matmul, with 1-d operands and batch axes as in NumPy, and its rule. Operands of
// the node have rank ≥ 2. Transposed operands are views, which a backend passes as flags.

#include "ops/matmul.h"

#include <utility>

#include "base/error.h"
#include "graph/make.h"

namespace pullback {

NodeRef matmul(const NodeRef& left, const NodeRef& right) {
  if (left->shape.rank == 0 || right->shape.rank == 0) {
    fail(ErrorKind::Value, "matmul: expected tensors of rank 1 or more, got shapes ", left->shape,
         " and ", right->shape, "; use * for numbers");
  }
  DType dtype = promote(left->dtype, right->dtype);
  if (dtype == DType::Bool) {
    fail(ErrorKind::Type, "matmul: expected numbers, got bool; cast one operand");
  }
  // A real operand beside a complex one stays real: half the products.
  const auto operand = [&](const NodeRef& x) {
    const bool real = is_complex(dtype) && !is_complex(x->dtype);
    return cast(x, real ? traits(dtype).compute : dtype);
  };
  NodeRef a = operand(left);
  NodeRef b = operand(right);
  if (is_storage(dtype)) {  // summed in the compute dtype, rounded once
    return cast(matmul(cast(a, widened(dtype)), cast(b, widened(dtype))), dtype);
  }
  const bool row = a->shape.rank == 1;
  const bool column = b->shape.rank == 1;
  if (row) a = expand_dims(a, {0});
  if (column) b = expand_dims(b, {1});
  const int64_t ra = a->shape.rank;
  const int64_t rb = b->shape.rank;
  if (a->shape[ra - 1] != b->shape[rb - 2]) {
    const bool swapped = !row && !column && ra == 2 && rb == 2 && a->shape[1] == b->shape[1];
    fail(ErrorKind::Value, "matmul: expected equal inner dimensions, got shapes ", left->shape,
         " and ", right->shape, swapped ? "; did you mean transpose(b)?" : "");
  }
  Shape batch_a = a->shape;
  batch_a.resize(ra - 2);
  Shape batch_b = b->shape;
  batch_b.resize(rb - 2);
  Shape shape;
  if (!broadcast(batch_a, batch_b, &shape)) {
    fail(ErrorKind::Value, "matmul: expected batch axes that broadcast, got shapes ", left->shape,
         " and ", right->shape);
  }
  shape.append(a->shape[ra - 2]);
  shape.append(b->shape[rb - 1]);
  Node* inputs[] = {a.get(), b.get()};
  NodeRef out = make_node(Op::matmul, dtype, shape, inputs);
  if (row || column) {
    Shape squeezed;
    for (int64_t i = 0; i < shape.rank; ++i) {
      if ((row && i == shape.rank - 2) || (column && i == shape.rank - 1)) continue;
      squeezed.append(shape[i]);
    }
    out = reshape(out, squeezed);
  }
  return out;
}

namespace {

// The cotangent of b if the whole batch shares it: one product over all rows. A product per matrix
// followed by a sum would need memory for all terms.
NodeRef shared_cotangent(const NodeRef& a, const NodeRef& g, const Shape& b) {
  const auto rows = [](const NodeRef& x) {
    Shape shape;
    const int64_t columns = x->shape[x->shape.rank - 1];
    shape.append(columns ? x->shape.size() / columns : 0);
    shape.append(columns);
    return reshape(x, shape);
  };
  return reshape(matmul(swap_last_axes(rows(a)), rows(g)), b);
}

Shape swapped(Shape shape) {
  std::swap(shape[shape.rank - 2], shape[shape.rank - 1]);
  return shape;
}

// The same for a, if the products of the matrices are larger than the operands. Copies the operands
// so that the summed axis lies in rows.
NodeRef shared_left_cotangent(const NodeRef& b, const NodeRef& g, const Shape& a) {
  const NodeRef transposed = shared_cotangent(swap_last_axes(b), swap_last_axes(g), swapped(a));
  return swap_last_axes(transposed);
}

// True if this is the transpose of another matrix (or of each matrix of a batch).
bool is_transposed(const Node* x) {
  const int64_t rank = x->shape.rank;
  if (x->op != Op::transpose) return false;
  for (int64_t i = 0; i < rank - 2; ++i) {
    if (x->attr.order[i] != i) return false;
  }
  return x->attr.order[rank - 2] == rank - 1;
}

}  // namespace

// d(ab) = da·b + a·db; the adjoint sums over broadcast batch axes. For a transposed operand the
// cotangent is the transpose of a product: the rule of the transpose undoes it without a copy.
void matmul_vjp(const VjpCall& call, Cotangent* out) {
  Node* a = call.node->in[0];
  Node* b = call.node->in[1];
  const Shape& shape = b->shape;
  const int64_t matrix = shape[shape.rank - 2] * shape[shape.rank - 1];
  const bool shared = a->shape.rank > 2 && matrix > 0 && shape.size() == matrix &&
                      a->shape.size() > 0 && call.g->shape.rank == a->shape.rank;
  const Shape& left = a->shape;
  const int64_t m = left[left.rank - 2];
  const int64_t k = left[left.rank - 1];
  const int64_t n = shape[shape.rank - 1];
  const bool shared_left = shape.rank > 2 && m * k > 0 && left.size() == m * k &&
                           shape.size() > 0 && call.g->shape.rank == shape.rank &&
                           n * (m + k) <= 2 * m * k;
  const NodeRef& g = call.g;
  const auto answer = [](const Node* of, const NodeRef& value) -> Cotangent {
    return {Cotangent::Value, is_complex(of->dtype) ? value : real_part(value), nullptr};
  };
  if (call.live[0]) {
    const NodeRef other = conjugate(b);
    NodeRef da = shared_left        ? shared_left_cotangent(other, g, left)
                 : is_transposed(a) ? swap_last_axes(matmul(other, swap_last_axes(g)))
                                    : matmul(g, swap_last_axes(other));
    out[0] = answer(a, da);
  }
  if (call.live[1]) {
    const bool transposed = is_transposed(b);
    const NodeRef other = conjugate(a);
    NodeRef db = shared && transposed ? swap_last_axes(shared_cotangent(g, other, swapped(shape)))
                 : shared             ? shared_cotangent(other, g, shape)
                 : transposed         ? swap_last_axes(matmul(swap_last_axes(g), other))
                                      : matmul(swap_last_axes(other), g);
    out[1] = answer(b, db);
  }
}

}  // namespace pullback
