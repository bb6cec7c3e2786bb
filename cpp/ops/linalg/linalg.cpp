// Builders of the routines, and functions composed of them. A storage dtype is computed in a
// compute dtype and rounded once. Derivatives are in linalg_rules.cpp. Start at make_routine().
#include "ops/linalg/linalg.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/make.h"
#include "ops/body.h"
#include "ops/complex.h"
#include "ops/composite.h"
#include "ops/expr.h"
#include "ops/linalg/attention.h"

namespace pullback {

const char* name_of(Routine routine) {
  switch (routine) {
    case Routine::cholesky:
      return "cholesky";
    case Routine::triangular_solve:
      return "solve_triangular";
    case Routine::lu:
      return "lu";
    case Routine::solve:
      return "solve";
    case Routine::qr:
      return "qr";
    case Routine::svd:
      return "svd";
    case Routine::pseudo_inverse:
      return "pinv";
    case Routine::eigh:
      return "eigh";
    case Routine::eig:
      return "eig";
    case Routine::absent:
      return "absent";
    case Routine::expm:
      return "expm";
    case Routine::logm:
      return "logm";
    case Routine::sqrtm:
      return "sqrtm";
    case Routine::sylvester:
      return "solve_sylvester";
    case Routine::banded_solve:
      return "solve_banded";
    case Routine::swap_rows:
      return "lu_solve";
    case Routine::attention:
    case Routine::attention_cotangents:
      return "scaled_dot_product_attention";
    case Routine::fourier:
      return "fft";
  }
  return "linalg";
}

namespace {

// Converts to a float that a library computes with.
NodeRef matrices(const NodeRef& x, const char* who) {
  if (x->shape.rank < 2) {
    fail(ErrorKind::LinearAlgebra, who, ": expected a matrix or a batch of matrices, got shape ",
         x->shape);
  }
  if (is_inexact(x->dtype) && !is_storage(x->dtype)) return x;
  return cast(x, is_inexact(x->dtype) ? widened(x->dtype) : default_float());
}

NodeRef checked_square(const NodeRef& x, const char* who) {
  NodeRef out = matrices(x, who);
  if (rows(x) != columns(x)) {
    fail(ErrorKind::LinearAlgebra, who, ": expected square matrices, got shape ", x->shape);
  }
  return out;
}

DType real_of(DType dtype) { return is_complex(dtype) ? traits(dtype).compute : dtype; }

// Rounds the result back to a storage float, if the operand had one.
NodeRef cast_back(const NodeRef& out, DType given) {
  if (!is_float(given) || !is_storage(given)) return out;
  return cast(out, given);
}

NodeRef make_routine(const RoutineForm& form, std::initializer_list<NodeRef> given,
                     std::vector<TensorType> outputs) {
  return make_routine(form, std::span(given.begin(), given.size()), std::move(outputs));
}

}  // namespace

NodeRef make_routine(RoutineForm form, std::span<const NodeRef> given,
                     std::vector<TensorType> outputs) {
  const NodeRef& a = given[0];
  form.m = rows(a);
  form.n = columns(a);
  form.is_complex = is_complex(a->dtype);
  Ref<Operation> operation(new Operation);
  operation->form = form;
  operation->batch = 1;
  for (int64_t d = 0; d < a->shape.rank - 2; ++d) operation->batch *= a->shape[d];
  operation->outputs = std::move(outputs);
  NodeRef node = make_node(Op::routine, DType::Bool, {}, pointers(given));
  node->operation = operation;
  return node;
}

NodeRef adjoint(const NodeRef& x) { return swap_last_axes(conjugate(x)); }

NodeRef routine_like(const NodeRef& operation, std::span<const NodeRef> inputs) {
  if (is_attention(operation)) return attention_like(operation, inputs);
  const Shape batch = batch_of(inputs[0]);
  std::vector<TensorType> outputs = operation->operation->outputs;
  const int64_t before = operation->in[0]->shape.rank - 2;
  for (TensorType& type : outputs) {
    Shape shape = batch;
    for (int64_t d = before; d < type.shape.rank; ++d) shape.append(type.shape[d]);
    type.shape = shape;
  }
  return make_routine(operation->operation->form, inputs, std::move(outputs));
}

NodeRef cholesky(const NodeRef& given) {
  const NodeRef a = checked_square(given, "cholesky");
  const NodeRef made = make_routine({Routine::cholesky}, {a}, {{a->dtype, a->shape}});
  return cast_back(output_of(made, 0), given->dtype);
}

namespace {

// Square matrices and right-hand sides of one dtype and batch; a vector is stored as a column.
struct Equation {
  NodeRef a, b;
};
Equation equation(const NodeRef& left, const NodeRef& right, const char* who) {
  const NodeRef a = checked_square(left, who);
  const NodeRef b = matrices(right->shape.rank == 1 ? expand_dims(right, {1}) : right, who);
  const DType dtype = promote(a->dtype, b->dtype);
  Shape batch;
  if (rows(b) != columns(a) || !broadcast(batch_of(a), batch_of(b), &batch)) {
    fail(ErrorKind::Value, who, ": expected right-hand sides with ", columns(a),
         " rows and a batch that broadcasts with matrices of shape ", left->shape, ", got shape ",
         right->shape);
  }
  return {broadcast_to(cast(a, dtype), with(batch, {rows(a), columns(a)})),
          broadcast_to(cast(b, dtype), with(batch, {rows(b), columns(b)}))};
}

}  // namespace

NodeRef triangular_solve(const NodeRef& triangles, const NodeRef& given, const Triangle& triangle,
                         const char* who) {
  const auto [t, b] = equation(triangles, given, who);
  RoutineForm form{Routine::triangular_solve, triangle.lower, triangle.unit,
                   triangle.transposition};
  form.k = columns(b);
  form.who = who;
  return output_of(make_routine(form, {t, b}, {{b->dtype, b->shape}}), 0);
}

Lu lu(const NodeRef& given, const char* who) {
  const NodeRef a = matrices(given, who);
  const Shape batch = batch_of(a);
  std::vector<TensorType> outputs{{a->dtype, a->shape},
                                  {DType::Int64, with(batch, {rows(a)})},
                                  {real_of(a->dtype), batch},
                                  {DType::Int64, with(batch, {std::min(rows(a), columns(a))})}};
  const bool is_square = rows(a) == columns(a);
  if (is_square) outputs.push_back({a->dtype, batch});
  const NodeRef made = make_routine({Routine::lu}, {a}, std::move(outputs));
  return {output_of(made, 0), output_of(made, 1), output_of(made, 2), output_of(made, 3),
          is_square ? output_of(made, 4) : nullptr};
}

Qr qr(const NodeRef& given, bool full) {
  const NodeRef a = matrices(given, "qr");
  const int64_t m = rows(a), n = columns(a), k = full ? m : std::min(m, n);
  const Shape batch = batch_of(a);
  RoutineForm form{Routine::qr};
  form.full = full;
  const NodeRef made =
      make_routine(form, {a}, {{a->dtype, with(batch, {m, k})}, {a->dtype, with(batch, {k, n})}});
  return {cast_back(output_of(made, 0), given->dtype), cast_back(output_of(made, 1), given->dtype)};
}

Svd svd(const NodeRef& given, bool full, const char* who, Degenerate degenerate) {
  const NodeRef a = matrices(given, who);
  const int64_t m = rows(a), n = columns(a), k = std::min(m, n);
  const Shape batch = batch_of(a);
  RoutineForm form{Routine::svd};
  form.full = full;
  form.who = who;
  form.degenerate = degenerate;
  const NodeRef made = make_routine(form, {a},
                                    {{a->dtype, with(batch, {m, full ? m : k})},
                                     {real_of(a->dtype), with(batch, {k})},
                                     {a->dtype, with(batch, {full ? n : k, n})}});
  return {cast_back(output_of(made, 0), given->dtype), cast_back(output_of(made, 1), given->dtype),
          cast_back(output_of(made, 2), given->dtype)};
}

PseudoInverse pseudo_inverse(const NodeRef& a, const NodeRef& tolerance, const char* who) {
  const int64_t k = std::min(rows(a), columns(a));
  const Shape batch = batch_of(a);
  RoutineForm form{Routine::pseudo_inverse};
  form.who = who;
  const NodeRef made = make_routine(
      form, {stop_gradient(a), stop_gradient(tolerance)},
      {{a->dtype, with(batch, {columns(a), k})}, {a->dtype, with(batch, {k, rows(a)})}});
  return {output_of(made, 0), output_of(made, 1)};
}

namespace {

Eigen eigen(Routine routine, const NodeRef& a, DType values, DType vectors, const char* who,
            Degenerate degenerate) {
  RoutineForm form{routine};
  form.who = who;
  form.degenerate = degenerate;
  const NodeRef made =
      make_routine(form, {a}, {{values, with(batch_of(a), {rows(a)})}, {vectors, a->shape}});
  return {output_of(made, 0), output_of(made, 1)};
}

}  // namespace

Eigen eigh(const NodeRef& given, const char* who, Degenerate degenerate) {
  const NodeRef a = checked_square(given, who);
  const auto [w, v] = eigen(Routine::eigh, a, real_of(a->dtype), a->dtype, who, degenerate);
  return {cast_back(w, given->dtype), cast_back(v, given->dtype)};
}

Eigen eig(const NodeRef& given, const char* who, Degenerate degenerate) {
  const NodeRef a = checked_square(given, who);
  const DType complex = promote(a->dtype, DType::Complex64);
  return eigen(Routine::eig, a, complex, complex, who, degenerate);
}

NodeRef absent(const NodeRef& marks, const char* who) {
  RoutineForm form{Routine::absent};
  form.who = who;
  return output_of(make_routine(form, {marks}, {{marks->dtype, marks->shape}}), 0);
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

// Solves a x = b, or aᴴ x = b, with the factors of lu.
NodeRef solved(const Lu& f, const NodeRef& b, bool transposed, const char* who) {
  const Triangle l{.lower = true, .unit = true}, u{};
  if (!transposed) {
    const NodeRef y = triangular_solve(f.packed, permuted_rows(b, f.positions, false), l, who);
    return triangular_solve(f.packed, y, u, who);
  }
  const NodeRef y = triangular_solve(f.packed, b, {.transposition = Transposition::Adjoint}, who);
  const NodeRef z = triangular_solve(
      f.packed, y, {.lower = true, .unit = true, .transposition = Transposition::Adjoint}, who);
  return permuted_rows(z, f.positions, true);
}

// Up to this number of rows it is cheaper to factorise again for a gradient than to store factors.
constexpr int64_t kOneRoutine = 8;

// Of matrices of one dtype and batch. `identity`: b is a batch of unit matrices.
NodeRef solve_matrices(const NodeRef& a, const NodeRef& b, bool transposed, const char* who,
                       bool identity = false) {
  NodeRef inside;
  if (rows(a) > 0 && rows(a) <= kOneRoutine && !is_complex(a->dtype)) {
    RoutineForm form{Routine::solve};
    form.transposition = transposed ? Transposition::Adjoint : Transposition::None;
    form.k = columns(b);
    form.who = who;
    const std::vector<TensorType> output{{b->dtype, b->shape}};
    const NodeRef made =
        identity ? make_routine(form, {a}, output) : make_routine(form, {a, b}, output);
    inside = output_of(made, 0);
  } else {
    inside = solved(lu(a, who), b, transposed, who);
  }
  NodeRef node = compose(Composite::solve, inside, {a, b});
  node->attr.reversed = transposed;
  return node;
}

NodeRef inverse(const NodeRef& a, bool transposed, const char* who) {
  const NodeRef unit = broadcast_to(eye(rows(a), rows(a), 0, a->dtype), a->shape);
  return solve_matrices(a, unit, transposed, who, true);
}

}  // namespace

NodeRef solve_adjoint(const NodeRef& a, const NodeRef& b, const char* who) {
  return solve_matrices(a, b, true, who);
}

NodeRef inverse_adjoint(const NodeRef& a, const char* who) { return inverse(a, true, who); }

NodeRef solve(const NodeRef& left, const NodeRef& right, const char* who) {
  const auto [a, b] = equation(left, right, who);
  NodeRef x = solve_matrices(a, b, false, who);
  if (right->shape.rank == 1) x = squeeze(x, Axes{{x->shape.rank - 1}});
  const bool halves = is_storage(left->dtype) && is_storage(right->dtype);
  return halves ? cast_back(x, promote(left->dtype, right->dtype)) : x;
}

NodeRef inv(const NodeRef& given, const char* who) {
  const NodeRef a = checked_square(given, who);
  return cast_back(inverse(a, false, who), given->dtype);
}

namespace {

NodeRef diagonal(const NodeRef& x) {
  const int64_t n = rows(x);
  NodeRef all = reshape(x, with(batch_of(x), {n * n}));
  if (n == 0) return all;
  StridedSlice range(all->shape.rank);
  range.step[all->shape.rank - 1] = n + 1;
  return slice(all, with(batch_of(x), {n}), range);
}

}  // namespace

NodeRef det(const NodeRef& given) {
  const NodeRef a = checked_square(given, "det");
  return cast_back(compose(Composite::det, lu(a, "det").det, {a}), given->dtype);
}

Slogdet slogdet(const NodeRef& given) {
  const NodeRef a = checked_square(given, "slogdet");
  const Lu f = lu(a, "slogdet");
  const Expr pivots = diagonal(f.packed);
  const std::vector<int64_t> last{-1};
  const Expr size = formula::abs(pivots);
  const NodeRef logs = reduce(Op::sum, formula::log(size), last, false);
  const NodeRef sign =
      Expr(prod(formula::sign(pivots), last, false)) * Expr(cast(f.sign, a->dtype));
  return {cast_back(is_complex(a->dtype) ? sign : stop_gradient(sign), given->dtype),
          cast_back(compose(Composite::logabsdet, logs, {a}), given->dtype)};
}

}  // namespace pullback
