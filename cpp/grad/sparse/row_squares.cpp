// Follows operations that move entries within a row or scale a whole row; other tensors are squared
// and summed.

#include "grad/sparse/row_squares.h"

#include "ops/expr.h"

namespace pullback {
namespace {

NodeRef summed(const NodeRef& squares) {
  std::vector<int64_t> axes;
  for (int64_t d = 1; d < squares->shape.rank; ++d) axes.push_back(d);
  return reduce(Op::sum, squares, axes, false);
}

// True for the product of a column and a row, per entry of the batch. For longer sums the length
// could be computed from small products too, but their terms cancel.
bool is_outer_product(const Node* x) {
  if (x->op != Op::matmul || x->shape.rank != 3) return false;
  const Shape& a = x->in[0]->shape;
  const Shape& b = x->in[1]->shape;
  return a.rank == 3 && b.rank == 3 && a[0] == x->shape[0] && b[0] == x->shape[0] && a[2] == 1;
}

}  // namespace

NodeRef row_squares(const NodeRef& x) {
  NodeRef at = x;
  while (!at->has_value() && !at->rule && at->inputs_count > 0 && is_float(at->dtype)) {
    const NodeRef input(at->in[0]);
    const bool same_rows = input->shape.rank > 0 && input->shape[0] == at->shape[0];
    const bool moves = at->op == Op::reshape || at->op == Op::identity || at->op == Op::negative ||
                       (at->op == Op::transpose && at->attr.order[0] == 0) ||
                       (at->op == Op::embed && at->slice->step[0] == 1);
    if (moves && same_rows) {
      at = input;
      continue;
    }
    if (!is_outer_product(at.get())) break;
    const Expr left = summed(formula::square(Expr(at->in[0])));
    return left * Expr(summed(formula::square(Expr(at->in[1]))));
  }
  if (!is_complex(at->dtype)) return summed(formula::square(Expr(at)));
  const Expr re = real_part(at);
  const Expr im = imaginary_part(at);
  return summed(re * re + im * im);
}

}  // namespace pullback
