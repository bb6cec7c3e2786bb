// Looks through what moves entries within a row or scales them all; sums are summed as they are.

#include "grad/row_squares.h"

#include "ops/expr.h"

namespace pullback {
namespace {

Ref<Node> summed(const Ref<Node>& squares) {
  std::vector<int64_t> axes;
  for (int64_t d = 1; d < squares->shape.rank; ++d) axes.push_back(d);
  return reduce(Op::sum, squares, axes, false);
}

// a[rows, m, k] and b[rows, k, n] with one matrix for each row, where their own products are
// smaller than theirs.
bool is_product_of_rows(const Node* x) {
  if (x->op != Op::matmul || x->shape.rank != 3) return false;
  const Shape& a = x->in[0]->shape;
  const Shape& b = x->in[1]->shape;
  if (a.rank != 3 || b.rank != 3 || a[0] != x->shape[0] || b[0] != x->shape[0]) return false;
  return a[2] * (a[1] + b[2]) < a[1] * b[2];
}

Ref<Node> of_product(const Node* x) {
  const Ref<Node> a(x->in[0]);
  const Ref<Node> b(x->in[1]);
  if (a->shape[2] == 1) {
    return Expr(summed(formula::square(a))) * Expr(summed(formula::square(b)));
  }
  const Expr left = matmul(swap_last_axes(a), a);
  const Expr right = matmul(b, swap_last_axes(b));
  return summed(left * right);
}

}  // namespace

Ref<Node> row_squares(const Ref<Node>& x) {
  Ref<Node> at = x;
  while (!at->has_value() && !at->rule && at->inputs_count > 0 && is_float(at->dtype)) {
    const Ref<Node> input(at->in[0]);
    const bool same_rows = input->shape.rank > 0 && input->shape[0] == at->shape[0];
    const bool moves = at->op == Op::reshape || at->op == Op::identity || at->op == Op::negative ||
                       (at->op == Op::transpose && at->attr.order[0] == 0) ||
                       (at->op == Op::embed && at->window->step[0] == 1);
    if (moves && same_rows) {
      at = input;
      continue;
    }
    if (is_product_of_rows(at.get())) return of_product(at.get());
    break;
  }
  return summed(formula::square(at));
}

}  // namespace pullback
