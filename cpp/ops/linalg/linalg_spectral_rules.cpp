// Cotangents of singular values and eigenvalues. Sources: M. Giles, "Collected matrix derivative
// results for forward and reverse mode algorithmic differentiation" (2008); J. Townsend,
// "Differentiating the singular value decomposition" (2016). For eigenvectors with the norm and
// phase of LAPACK: C. Boeddeker and others, "On the computation of complex-valued gradients with
// application to statistically optimum beamforming" (2017), extended by the phase.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "ops/linalg/linalg_formulas.h"

namespace pullback::linalg_formula {
namespace {

// x_j - x_i for the values x.
Expr differences(const Expr& x) { return by_columns(x) - by_rows(x); }
Expr differences_of_squares(const Expr& x) { return differences(x) * (by_columns(x) + by_rows(x)); }

Expr largest(const Expr& x) {
  return reduce(Op::max, x, Axes{{x.node->shape.rank - 1}}, /*keepdims=*/true);
}

// The rounding error of a decomposition of n×n matrices with norm 1.
double rounding_error(int64_t n, DType real) {
  const double epsilon = real == DType::Float32 ? std::numeric_limits<float>::epsilon()
                                                : std::numeric_limits<double>::epsilon();
  return static_cast<double>(n) * epsilon;
}

// Pairs of different values that are equal within the rounding error of a decomposition of a matrix
// with norm `norm`, of shape (…, 1).
Expr equal_pairs(const Expr& values, const Expr& norm) {
  const int64_t n = values.node->shape[values.node->shape.rank - 1];
  const Expr gaps = formula::abs(differences(values));
  const DType real = gaps.node->dtype;
  return (gaps <= by_rows(norm) * Expr(scalar(real, rounding_error(n, real)))) & !on_diagonal(gaps);
}

// 1 / gaps of the values, 0 on the diagonal; for equal values as `degenerate` requires.
Expr inverse_gaps(const Expr& gaps, const Expr& values, const Expr& norm, const RoutineForm& form) {
  const DType dtype = gaps.node->dtype;
  const auto number = [&](double x) { return Expr(scalar(dtype, x)); };
  const Expr equal = equal_pairs(values, norm);
  const Expr diagonal = on_diagonal(gaps);
  const Expr inverse = number(1) / formula::where(equal | diagonal, number(1), gaps);
  Expr out = formula::where(diagonal, number(0), inverse);
  switch (form.degenerate) {
    case Degenerate::Nan:
      return formula::where(equal, number(std::numeric_limits<double>::quiet_NaN()), out);
    case Degenerate::Mask:
      return formula::where(equal, number(0), out);
    case Degenerate::Error:
      return out + Expr(absent(cast(equal, dtype), name_of(form.routine)));
  }
  return out;
}

// 1 for each matrix, or NaN if its eigenvectors are dependent within the rounding error. `inverse`:
// the adjoint of the inverse of the eigenvectors. The norm of its column k is the condition number
// of eigenvalue k.
Expr one_if_independent(const NodeRef& inverse) {
  const int64_t row = inverse->shape.rank - 2;
  const Expr size = formula::abs(Expr(inverse));
  const DType real = size.node->dtype;
  const Expr squares = reduce(Op::sum, size * size, Axes{{row}}, /*keepdims=*/true);
  const Expr worst = reduce(Op::max, squares, Axes{{row + 1}}, /*keepdims=*/true);
  const double limit = 1 / rounding_error(rows(inverse), real);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return formula::where(worst < Expr(scalar(real, limit * limit)), Expr(scalar(real, 1)),
                        Expr(scalar(real, nan)));
}

}  // namespace

NodeRef svd_cotangent(const NodeRef& operation, const Outputs& out, std::span<const NodeRef> g) {
  const RoutineForm& form = operation->operation->form;
  const NodeRef& gs = g[1];
  if (form.full && (g[0] || g[2]) && form.m != form.n) {
    fail(ErrorKind::NotImplemented,
         "svd: full_matrices=True has no gradient by u and vh, because the additional vectors are "
         "not unique; use full_matrices=False");
  }
  const NodeRef whole_u = out[0], s = out[1], whole_v = out[2];
  const NodeRef a(operation->inputs()[0]);
  if (a->shape.size() == 0) return zeros(a->shape, a->dtype);
  const int64_t k = std::min(form.m, form.n);
  const auto first = [&](const NodeRef& x, int64_t axis) {
    Shape shape = x->shape;
    shape[axis] = k;
    return shape == x->shape ? x : slice(x, shape, StridedSlice(x->shape.rank));
  };
  const NodeRef u = first(whole_u, whole_u->shape.rank - 1);
  const NodeRef vh = first(whole_v, whole_v->shape.rank - 2);
  const NodeRef v = adjoint(vh);
  const bool complex = is_complex(u->dtype);
  const NodeRef size = cast(s, u->dtype);
  const Expr values = by_columns(size);
  if (g[0] == nullptr && g[2] == nullptr)
    return times(Expr(u) * Expr(by_columns(cast(gs, u->dtype))), vh);
  const auto skew = [](const Expr& x) { return x - Expr(adjoint(x)); };
  const Expr by = cast(inverse_gaps(differences_of_squares(s), s, largest(s), form), u->dtype);
  const Expr none = scalar(u->dtype, 0);
  Expr inner = none;
  Expr left = none;
  if (g[0]) {
    left = skew(times(adjoint(u), g[0]));
    inner = left * values;
  }
  if (g[2]) {
    const Expr right = by_rows(size) * skew(times(vh, adjoint(g[2])));
    inner = g[0] ? inner + right : right;
  }
  inner = formula::where(on_diagonal(inner), none, inner * by);
  if (gs) {
    inner = inner + formula::where(on_diagonal(inner), by_columns(cast(gs, u->dtype)), none);
  }
  if (complex && g[0]) {
    const Expr phase = left / (Expr(scalar(u->dtype, 2)) * values);
    inner = inner + formula::where(on_diagonal(inner), phase, none);
  }
  Expr ga = times(times(u, inner), vh);
  if (g[0] && form.m > k) {
    const Expr rest = Expr(g[0]) - times(u, times(adjoint(u), g[0]));
    ga = ga + times(rest / values, vh);
  }
  if (g[2] && form.n > k) {
    const Expr rest = Expr(g[2]) - times(times(g[2], v), vh);
    ga = ga + times(u, rest / by_rows(size));
  }
  return ga;
}

NodeRef eigh_cotangent(const NodeRef& operation, const Outputs& out, std::span<const NodeRef> g) {
  const NodeRef w = out[0], v = out[1];
  if (v->shape.size() == 0) return zeros(v->shape, v->dtype);
  const auto diagonal = [&] { return by_columns(cast(g[0], v->dtype)); };
  if (g[1] == nullptr) return times(Expr(v) * diagonal(), adjoint(v));
  Expr inner =
      times(adjoint(v), g[1]) * Expr(cast(inverse_gaps(differences(w), w, largest(formula::abs(w)),
                                                       operation->operation->form),
                                          v->dtype));
  if (g[0]) inner = formula::where(on_diagonal(inner), diagonal(), inner);
  return hermitian(times(times(v, inner), adjoint(v)));
}

NodeRef eig_cotangent(const NodeRef& operation, const Outputs& out, std::span<const NodeRef> g) {
  const NodeRef w = out[0], v = out[1], a(operation->inputs()[0]);
  if (a->shape.size() == 0) return zeros(a->shape, a->dtype);
  Expr inner = zero_of(v);
  if (g[1]) {
    // Keeps the norm at 1, and the entry real that the library makes real.
    const int64_t row = v->shape.rank - 2;
    const Expr along =
        reduce(Op::sum, Expr(conjugate(v)) * Expr(g[1]), Axes{{row}}, /*keepdims=*/true);
    const Expr re = real_part(v), im = imaginary_part(v);
    const Expr none = scalar(re.node->dtype, 0);
    const Expr size = formula::where(im == none, formula::abs(re), none);
    const Expr place = arg_reduce(Op::argmax, size, row, /*keepdims=*/true);
    const Expr pivot = Expr(expand_dims(iota(rows(v)), {1})) == place;
    const Expr rotated = formula::where(
        pivot, Expr(imaginary_part(along)) / formula::where(pivot, re, none + Expr(1.0)), none);
    const Expr free = Expr(g[1]) - Expr(v) * Expr(cast(real_part(along), v->dtype)) -
                      Expr(make_complex(zeros(rotated.node->shape, rotated.node->dtype), rotated));
    const Expr rows = reduce(Op::sum, formula::abs(a), Axes{{row + 1}}, /*keepdims=*/false);
    const Expr by = inverse_gaps(differences(w), w, largest(rows), operation->operation->form);
    inner = times(adjoint(v), free) * Expr(conjugate(by));
  }
  if (g[0]) {
    const Expr whole = inner + Expr(zeros(v->shape, v->dtype));
    inner = formula::where(on_diagonal(whole), by_columns(g[0]), whole);
  }
  const NodeRef inverse = inverse_adjoint(v, "eig");
  const Expr factor = cast(one_if_independent(inverse), v->dtype);
  const NodeRef ga = times(inverse, times(inner * factor, adjoint(v)));
  return is_complex(a->dtype) ? ga : real_part(ga);
}

}  // namespace pullback::linalg_formula
