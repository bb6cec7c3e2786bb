// The routines as nodes, and what is made of them. Their derivatives are in linalg_rules.cpp.
#include "ops/linalg.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/make.h"
#include "ops/body.h"
#include "ops/complex.h"
#include "ops/composite.h"
#include "ops/expr.h"

namespace pullback {

const char* name_of(Routine routine) {
  switch (routine) {
    case Routine::cholesky:
      return "cholesky";
    case Routine::triangular_solve:
      return "solve_triangular";
    case Routine::lu:
      return "lu";
    case Routine::qr:
      return "qr";
    case Routine::svd:
      return "svd";
    case Routine::eigh:
      return "eigh";
  }
  return "linalg";
}

namespace {

int64_t rows(const NodeRef& x) { return x->shape[x->shape.rank - 2]; }
int64_t columns(const NodeRef& x) { return x->shape[x->shape.rank - 1]; }

Shape batch_of(const NodeRef& x) {
  Shape out = x->shape;
  out.resize(x->shape.rank - 2);
  return out;
}
Shape with(Shape batch, std::initializer_list<int64_t> lengths) {
  for (const int64_t length : lengths) batch.append(length);
  return batch;
}

// Floats that a library computes with.
NodeRef matrices(const NodeRef& x, const char* who) {
  if (x->shape.rank < 2) {
    fail(ErrorKind::LinearAlgebra, who, ": expected a matrix, or a batch of them, got shape ",
         x->shape);
  }
  if (is_inexact(x->dtype) && !is_storage(x->dtype)) return x;
  return cast(x, is_inexact(x->dtype) ? widened(x->dtype) : default_float());
}

NodeRef square(const NodeRef& x, const char* who) {
  NodeRef out = matrices(x, who);
  if (rows(x) != columns(x)) {
    fail(ErrorKind::LinearAlgebra, who, ": expected square matrices, got shape ", x->shape);
  }
  return out;
}

DType real_of(DType dtype) { return is_complex(dtype) ? traits(dtype).compute : dtype; }

// Rounded to what a float that is only stored came in.
NodeRef as_given(const NodeRef& out, DType given) {
  if (!is_float(given) || !is_storage(given)) return out;
  return cast(out, given);
}

NodeRef make_routine(MatrixForm form, std::initializer_list<NodeRef> given,
                     std::vector<TensorType> outputs) {
  const NodeRef& a = *given.begin();
  form.m = rows(a);
  form.n = columns(a);
  form.is_complex = is_complex(a->dtype);
  Ref<Operation> operation(new Operation);
  operation->matrix = form;
  operation->batch = 1;
  for (int64_t d = 0; d < a->shape.rank - 2; ++d) operation->batch *= a->shape[d];
  operation->outputs = std::move(outputs);
  std::vector<Node*> inputs;
  for (const NodeRef& one : given) inputs.push_back(one.get());
  NodeRef node = make_node(Op::routine, DType::Bool, {}, inputs);
  node->operation = operation;
  return node;
}

}  // namespace

NodeRef adjoint(const NodeRef& x) { return swap_last_axes(conjugate(x)); }

NodeRef routine_like(const NodeRef& operation, std::span<const NodeRef> inputs) {
  const MatrixForm& form = operation->operation->matrix;
  const NodeRef& a = inputs[0];
  const Shape batch = batch_of(a);
  std::vector<TensorType> outputs = operation->operation->outputs;
  const int64_t before = operation->in[0]->shape.rank - 2;
  for (TensorType& type : outputs) {
    Shape shape = batch;
    for (int64_t d = before; d < type.shape.rank; ++d) shape.append(type.shape[d]);
    type.shape = shape;
  }
  MatrixForm same = form;
  if (inputs.size() == 1) return make_routine(same, {a}, std::move(outputs));
  return make_routine(same, {a, inputs[1]}, std::move(outputs));
}

NodeRef cholesky(const NodeRef& given) {
  const NodeRef a = square(given, "cholesky");
  const NodeRef made = make_routine({Routine::cholesky}, {a}, {{a->dtype, a->shape}});
  return as_given(output_of(made, 0), given->dtype);
}

NodeRef triangular_solve(const NodeRef& triangles, const NodeRef& given, const Triangle& triangle,
                         const char* who) {
  NodeRef t = square(triangles, who);
  NodeRef b = matrices(given, who);
  const DType dtype = promote(t->dtype, b->dtype);
  t = cast(t, dtype);
  b = cast(b, dtype);
  Shape batch;
  if (rows(b) != columns(t) || !broadcast(batch_of(t), batch_of(b), &batch)) {
    fail(ErrorKind::Value, who, ": matrices of shape ", triangles->shape,
         " and right-hand sides of shape ", given->shape, " do not go together");
  }
  const int64_t n = columns(t), k = columns(b);
  t = broadcast_to(t, with(batch, {n, n}));
  b = broadcast_to(b, with(batch, {n, k}));
  MatrixForm form{Routine::triangular_solve, triangle.lower, triangle.unit, triangle.turn};
  form.k = k;
  form.who = who;
  return output_of(make_routine(form, {t, b}, {{dtype, b->shape}}), 0);
}

Lu lu(const NodeRef& given, const char* who) {
  const NodeRef a = matrices(given, who);
  const Shape batch = batch_of(a);
  const NodeRef made = make_routine(
      {Routine::lu}, {a},
      {{a->dtype, a->shape}, {DType::Int64, with(batch, {rows(a)})}, {real_of(a->dtype), batch}});
  return {output_of(made, 0), output_of(made, 1), output_of(made, 2)};
}

Qr qr(const NodeRef& given, bool full) {
  const NodeRef a = matrices(given, "qr");
  const int64_t m = rows(a), n = columns(a), k = full ? m : std::min(m, n);
  const Shape batch = batch_of(a);
  MatrixForm form{Routine::qr};
  form.full = full;
  const NodeRef made =
      make_routine(form, {a}, {{a->dtype, with(batch, {m, k})}, {a->dtype, with(batch, {k, n})}});
  return {as_given(output_of(made, 0), given->dtype), as_given(output_of(made, 1), given->dtype)};
}

Svd svd(const NodeRef& given, bool full, const char* who) {
  const NodeRef a = matrices(given, who);
  const int64_t m = rows(a), n = columns(a), k = std::min(m, n);
  const Shape batch = batch_of(a);
  MatrixForm form{Routine::svd};
  form.full = full;
  const NodeRef made = make_routine(form, {a},
                                    {{a->dtype, with(batch, {m, full ? m : k})},
                                     {real_of(a->dtype), with(batch, {k})},
                                     {a->dtype, with(batch, {full ? n : k, n})}});
  return {as_given(output_of(made, 0), given->dtype), as_given(output_of(made, 1), given->dtype),
          as_given(output_of(made, 2), given->dtype)};
}

Eigh eigh(const NodeRef& given, const char* who) {
  const NodeRef a = square(given, who);
  const Shape batch = batch_of(a);
  const NodeRef made = make_routine(
      {Routine::eigh}, {a}, {{real_of(a->dtype), with(batch, {rows(a)})}, {a->dtype, a->shape}});
  return {as_given(output_of(made, 0), given->dtype), as_given(output_of(made, 1), given->dtype)};
}

NodeRef permuted_rows(const NodeRef& x, const NodeRef& positions, bool back) {
  const int64_t n = rows(x), k = columns(x);
  const int64_t batch = x->shape.size() && n && k ? x->shape.size() / (n * k) : 0;
  if (batch == 0) return x;
  const Expr first =
      Expr(reshape(iota(batch), {batch, 1})) * Expr(scalar(DType::Int64, static_cast<double>(n)));
  const NodeRef places = reshape(first + Expr(reshape(positions, {batch, n})), {batch * n});
  const NodeRef flat = reshape(x, {batch * n, k});
  return reshape(back ? scatter_add(flat, places, 0, batch * n) : take(flat, places, 0), x->shape);
}

namespace {

// x with a x = b, or with aᴴ x = b, by what lu has made of a.
NodeRef solved(const Lu& f, const NodeRef& b, bool turned, const char* who) {
  const Triangle l{.lower = true, .unit = true}, u{};
  if (!turned) {
    const NodeRef y = triangular_solve(f.packed, permuted_rows(b, f.positions, false), l, who);
    return triangular_solve(f.packed, y, u, who);
  }
  const NodeRef y = triangular_solve(f.packed, b, {.turn = Turn::Adjoint}, who);
  const NodeRef z =
      triangular_solve(f.packed, y, {.lower = true, .unit = true, .turn = Turn::Adjoint}, who);
  return permuted_rows(z, f.positions, true);
}

// Of matrices of one dtype and batch.
NodeRef solve_matrices(const NodeRef& a, const NodeRef& b, bool turned, const char* who) {
  const NodeRef inside = solved(lu(a, who), b, turned, who);
  NodeRef node = compose(Composite::solve, inside, {a, b});
  node->attr.reversed = turned;
  return node;
}

}  // namespace

NodeRef solve_turned(const NodeRef& a, const NodeRef& b) {
  return solve_matrices(a, b, true, "solve");
}

NodeRef solve(const NodeRef& left, const NodeRef& right, const char* who) {
  NodeRef a = square(left, who);
  const bool vector = right->shape.rank == 1;
  NodeRef b = matrices(vector ? expand_dims(right, {1}) : right, who);
  const DType dtype = promote(a->dtype, b->dtype);
  a = cast(a, dtype);
  b = cast(b, dtype);
  Shape batch;
  if (rows(b) != columns(a) || !broadcast(batch_of(a), batch_of(b), &batch)) {
    fail(ErrorKind::Value, who, ": matrices of shape ", left->shape,
         " and right-hand sides of shape ", right->shape, " do not go together");
  }
  const int64_t n = columns(a);
  a = broadcast_to(a, with(batch, {n, n}));
  b = broadcast_to(b, with(batch, {n, columns(b)}));
  NodeRef x = solve_matrices(a, b, false, who);
  if (vector) x = squeeze(x, Axes{{x->shape.rank - 1}});
  const bool halves = is_storage(left->dtype) && is_storage(right->dtype);
  return halves ? as_given(x, promote(left->dtype, right->dtype)) : x;
}

NodeRef inv(const NodeRef& given, const char* who) {
  const NodeRef a = square(given, who);
  return as_given(solve(a, eye(rows(a), rows(a), 0, a->dtype), who), given->dtype);
}

namespace {

NodeRef diagonal(const NodeRef& x) {
  const int64_t n = rows(x);
  NodeRef all = reshape(x, with(batch_of(x), {n * n}));
  if (n == 0) return all;
  Window window(all->shape.rank);
  window.step[all->shape.rank - 1] = n + 1;
  return slice(all, with(batch_of(x), {n}), window);
}

}  // namespace

NodeRef det(const NodeRef& given) {
  const NodeRef a = square(given, "det");
  const Lu f = lu(a, "det");
  const Expr product = prod(diagonal(f.packed), std::vector<int64_t>{-1}, false);
  return as_given(compose(Composite::det, product * Expr(cast(f.sign, a->dtype)), {a}),
                  given->dtype);
}

Slogdet slogdet(const NodeRef& given) {
  const NodeRef a = square(given, "slogdet");
  const Lu f = lu(a, "slogdet");
  const Expr pivots = diagonal(f.packed);
  const std::vector<int64_t> last{-1};
  const Expr size = formula::abs(pivots);
  const NodeRef logs = reduce(Op::sum, formula::log(size), last, false);
  const NodeRef sign =
      Expr(prod(formula::sign(pivots), last, false)) * Expr(cast(f.sign, a->dtype));
  return {as_given(is_complex(a->dtype) ? sign : stop_gradient(sign), given->dtype),
          as_given(compose(Composite::logabsdet, logs, {a}), given->dtype)};
}

}  // namespace pullback
