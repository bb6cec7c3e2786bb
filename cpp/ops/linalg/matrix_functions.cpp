// Builders and cotangents of functions of matrices. Sources: N. Higham, "Functions of Matrices"
// (2008), section 3.2, for expm and logm (a block of the function of a block triangular matrix); S.
// Al-Homidan and others, and M. Giles (see linalg_rules.cpp), for equations.
#include "ops/linalg/matrix_functions.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ops/body.h"
#include "ops/expr.h"
#include "ops/linalg/linalg.h"

namespace pullback {
namespace {

NodeRef function(Routine routine, const NodeRef& a) {
  if (a->shape.rank < 2 || rows(a) != columns(a)) {
    fail(ErrorKind::LinearAlgebra, name_of(routine), ": expected square matrices, got shape ",
         a->shape);
  }
  return output_of(make_routine({routine}, std::span(&a, 1), {{a->dtype, a->shape}}), 0);
}

NodeRef concat_pair(const NodeRef& a, const NodeRef& b, int64_t axis) {
  const NodeRef parts[] = {a, b};
  return concat(parts, axis);
}

// The cotangent of f(a) is the derivative of f at aᴴ in direction g: the upper right block of f of
// [aᴴ g; 0 aᴴ]. It is linear in g, which is scaled to the size of a so that f does not work with a
// larger matrix.
NodeRef along(Routine routine, const NodeRef& a, const NodeRef& g) {
  const int64_t n = rows(a), last = a->shape.rank - 1;
  if (a->shape.size() == 0) return g;
  const std::vector<int64_t> axes{-2, -1};
  const Expr of_a = reduce(Op::max, formula::abs(a), axes, true);
  const Expr of_g = reduce(Op::max, formula::abs(g), axes, true);
  const Expr zero = scalar(of_a.node->dtype, 0);
  const NodeRef ratio =
      formula::where((of_a > zero) & (of_g > zero), of_g / of_a, Expr(scalar(of_a.node->dtype, 1)));
  const Expr factor = cast(stop_gradient(ratio), a->dtype);
  const NodeRef transposed = adjoint(a);
  const NodeRef none = zeros(a->shape, a->dtype);
  const NodeRef block = concat_pair(concat_pair(transposed, Expr(g) / factor, last),
                                    concat_pair(none, transposed, last), last - 1);
  StridedSlice range(a->shape.rank);
  range.start[last] = n;
  return Expr(slice(function(routine, block), a->shape, range)) * factor;
}

// The entries of the product p qᴴ inside a band: sums over the last axis of p[j + r - above]
// conj(q[j]).
NodeRef bands_of(const NodeRef& p, const NodeRef& q, int64_t count, int64_t below) {
  const int64_t axis = p->shape.rank - 2, above = count - 1 - below;
  const auto empty = [&](int64_t length) {
    Shape shape = p->shape;
    shape[axis] = length;
    return zeros(shape, p->dtype);
  };
  const NodeRef parts[] = {empty(above), p, empty(below)};
  const NodeRef padded = concat(parts, axis);
  const NodeRef other = conjugate(q);
  std::vector<NodeRef> out;
  for (int64_t r = 0; r < count; ++r) {
    StridedSlice range(p->shape.rank);
    range.start[axis] = r;
    const Expr product = Expr(slice(padded, p->shape, range)) * Expr(other);
    const NodeRef sum = reduce(Op::sum, product, std::vector<int64_t>{-1}, false);
    out.push_back(expand_dims(sum, {axis}));
  }
  return concat(out, axis);
}

}  // namespace

NodeRef expm(const NodeRef& a) { return function(Routine::expm, a); }
NodeRef logm(const NodeRef& a) { return function(Routine::logm, a); }
NodeRef sqrtm(const NodeRef& a) { return function(Routine::sqrtm, a); }

NodeRef solve_sylvester(const NodeRef& a, const NodeRef& b, const NodeRef& c, const char* who) {
  RoutineForm form{Routine::sylvester};
  form.k = columns(b);
  form.who = who;
  const NodeRef given[] = {a, b, c};
  return output_of(make_routine(form, given, {{c->dtype, c->shape}}), 0);
}

NodeRef banded_solve(const NodeRef& bands, const NodeRef& b, int64_t below,
                     Transposition transposition, const char* who) {
  RoutineForm form{Routine::banded_solve};
  form.transposition = transposition;
  form.k = columns(b);
  form.below = below;
  form.who = who;
  const NodeRef given[] = {bands, b};
  return output_of(make_routine(form, given, {{b->dtype, b->shape}}), 0);
}

NodeRef swapped_rows(const NodeRef& x, const NodeRef& positions, bool backwards) {
  RoutineForm form{Routine::swap_rows};
  form.backwards = backwards;
  const NodeRef given[] = {x, positions};
  return output_of(make_routine(form, given, {{x->dtype, x->shape}}), 0);
}

NodeRef lu_solve(const NodeRef& packed, const NodeRef& swaps, const NodeRef& b,
                 Transposition transposition) {
  constexpr const char* who = "lu_solve";
  const Triangle lower{.lower = true, .unit = true, .transposition = transposition},
      upper{.transposition = transposition};
  if (transposition == Transposition::None) {
    const NodeRef half = triangular_solve(packed, swapped_rows(b, swaps, false), lower, who);
    return triangular_solve(packed, half, upper, who);
  }
  const NodeRef half = triangular_solve(packed, b, upper, who);
  return swapped_rows(triangular_solve(packed, half, lower, who), swaps, true);
}

std::vector<NodeRef> matrix_function_cotangents(const NodeRef& operation, const NodeRef& y,
                                                const NodeRef& g) {
  const RoutineForm& form = operation->operation->form;
  const auto in = [&](size_t k) { return NodeRef(operation->inputs()[k]); };
  const NodeRef a = in(0);
  switch (form.routine) {
    case Routine::sqrtm: {  // y dy + dy y = da
      const NodeRef transposed = adjoint(y);
      return {solve_sylvester(transposed, transposed, g, "sqrtm")};
    }
    case Routine::sylvester: {
      const NodeRef gc = solve_sylvester(adjoint(a), adjoint(in(1)), g, form.who);
      return {-Expr(matmul(gc, adjoint(y))), -Expr(matmul(adjoint(y), gc)), gc};
    }
    case Routine::banded_solve: {
      const bool transposed = form.transposition == Transposition::Adjoint;
      const NodeRef gb = banded_solve(
          a, g, form.below, transposed ? Transposition::None : Transposition::Adjoint, form.who);
      return {-Expr(bands_of(transposed ? y : gb, transposed ? gb : y, form.m, form.below)), gb};
    }
    case Routine::swap_rows:
      return {swapped_rows(g, in(1), !form.backwards), nullptr};
    default:
      return {along(form.routine, a, g)};
  }
}

}  // namespace pullback
