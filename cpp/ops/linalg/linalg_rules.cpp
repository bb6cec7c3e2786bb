// Cotangents of the routines and of the functions composed of them. Complex ones follow the
// conjugate convention. Sources: M. Giles, "Collected matrix derivative results for forward and
// reverse mode algorithmic differentiation" (2008); I. Murray, "Differentiation of the Cholesky
// decomposition" (2016); S. Walter, L. Lehmann, "Algorithmic differentiation of linear algebra
// functions" (2010); J. Townsend, "Differentiating the singular value decomposition" (2016); H.-J.
// Liao and others, "Differentiable programming tensor networks" (2019) for qr.
#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "ops/composite.h"
#include "ops/linalg/attention.h"
#include "ops/linalg/fourier.h"
#include "ops/linalg/linalg_formulas.h"
#include "ops/linalg/matrix_functions.h"

namespace pullback {
namespace {

using namespace linalg_formula;  // NOLINT(google-build-using-namespace): formulas

// x with half of its diagonal, of which the imaginary part is dropped.
Expr lower_half(const Expr& x) {
  const Expr real = is_complex(x.node->dtype) ? Expr(cast(real_part(x), x.node->dtype)) : x;
  return formula::where(on_diagonal(x), half(real), lower(x));
}

// The lower triangle and its mirror image.
Expr mirrored(const Expr& x) {
  const Expr part = lower_half(x);
  return part + Expr(adjoint(part));
}

// --- routines; `g`: the cotangents of the outputs, null for none

NodeRef cholesky_cotangent(const Outputs& out, const NodeRef& g) {
  const NodeRef l = out[0];
  const Triangle transposed{.lower = true, .transposition = Transposition::Adjoint};
  const Expr inner = lower_half(times(adjoint(l), lower(g)));
  const NodeRef left = triangular_solve(l, inner, transposed, "cholesky");
  return hermitian(adjoint(triangular_solve(l, adjoint(left), transposed, "cholesky")));
}

std::pair<NodeRef, NodeRef> triangular_cotangents(const NodeRef& operation, const Outputs& out,
                                                  const NodeRef& g) {
  const RoutineForm& form = operation->operation->form;
  const NodeRef t(operation->inputs()[0]);
  const NodeRef x = out[0];
  constexpr const char* who = "solve_triangular";
  NodeRef gb;
  Expr gt = zero_of(t);
  switch (form.transposition) {
    case Transposition::None:
      gb = triangular_solve(t, g, {form.lower, form.unit, Transposition::Adjoint}, who);
      gt = times(gb, adjoint(x));
      break;
    case Transposition::Transposed:  // its adjoint is the conjugate, which the library does not
                                     // solve
      gb = conjugate(
          triangular_solve(t, conjugate(g), {form.lower, form.unit, Transposition::None}, who));
      gt = times(conjugate(x), swap_last_axes(gb));
      break;
    case Transposition::Adjoint:
      gb = triangular_solve(t, g, {form.lower, form.unit, Transposition::None}, who);
      gt = times(x, adjoint(gb));
      break;
  }
  const int64_t off = form.unit ? 1 : 0;
  return {-(form.lower ? lower(gt, -off) : upper(gt, off)), gb};
}

// Rows or columns of each matrix; `back` counts the axis from the last one.
NodeRef part(const NodeRef& x, int64_t back, int64_t from, int64_t count) {
  const int64_t axis = x->shape.rank - 1 - back;
  if (count == x->shape[axis]) return x;
  StridedSlice range(x->shape.rank);
  range.start[axis] = from;
  Shape shape = x->shape;
  shape[axis] = count;
  return slice(x, shape, range);
}
NodeRef joined(const NodeRef& first, const NodeRef& second, int64_t back) {
  const NodeRef parts[] = {first, second};
  return concat(parts, first->shape.rank - 1 - back);
}

// For a matrix that is not square, a2 = l u2 or a2 = l2 u: the part beside the square is eliminated
// first.
NodeRef lu_cotangent(const NodeRef& operation, const Outputs& out, const NodeRef& g) {
  constexpr const char* who = "lu";
  const RoutineForm& form = operation->operation->form;
  const int64_t k = std::min(form.m, form.n), longer = form.m > form.n ? 1 : 0;
  const int64_t further = std::max(form.m, form.n) - k;
  const Triangle l_adjoint{.lower = true, .unit = true, .transposition = Transposition::Adjoint};
  const NodeRef packed = part(out[0], longer, 0, k);
  const NodeRef known = part(g, longer, 0, k);
  Expr gl = lower(known, -1), gu = upper(known);
  NodeRef beside;
  if (further) {
    const NodeRef more = part(out[0], longer, k, further), given = part(g, longer, k, further);
    if (longer) {
      beside = adjoint(triangular_solve(packed, adjoint(given), {}, who));
      gu = gu - upper(times(adjoint(more), beside));
    } else {
      beside = triangular_solve(packed, given, l_adjoint, who);
      gl = gl - lower(times(beside, adjoint(more)), -1);
    }
  }
  const Expr l = lower(packed, -1) + identity_like(packed);
  const Expr inner = lower(times(adjoint(l), gl), -1) + upper(times(gu, adjoint(upper(packed))));
  // l⁻ᴴ inner u⁻ᴴ
  const NodeRef left = triangular_solve(packed, inner, l_adjoint, who);
  const NodeRef square = adjoint(triangular_solve(packed, adjoint(left), {}, who));
  return permuted_rows(further ? joined(square, beside, longer) : square, out[1], true);
}

NodeRef qr_cotangent(const NodeRef& operation, const Outputs& out, NodeRef gq, NodeRef gr) {
  const RoutineForm& form = operation->operation->form;
  const int64_t m = form.m, n = form.n;
  if (form.full && m > n) {
    fail(ErrorKind::NotImplemented,
         "qr: mode='complete' has no gradient for matrices with more rows than columns, because "
         "the additional columns are not unique; use mode='reduced'");
  }
  const NodeRef q = out[0], r = out[1];
  if (gq == nullptr) gq = zeros(q->shape, q->dtype);
  if (gr == nullptr) gr = zeros(r->shape, r->dtype);
  const int64_t k = std::min(m, n);
  NodeRef gy;
  NodeRef r1 = r, gr1 = gr;
  if (n > k) {  // a = [x, y], x = q u, y = q v
    const NodeRef y = part(NodeRef(operation->inputs()[0]), 0, k, n - k);
    const NodeRef gv = part(gr, 0, k, n - k);
    gy = times(q, gv);
    gq = Expr(gq) + times(y, adjoint(gv));
    r1 = part(r, 0, 0, k);
    gr1 = part(gr, 0, 0, k);
  }
  const Expr inner = times(r1, adjoint(gr1)) - times(adjoint(gq), q);
  const Expr sum = Expr(gq) + times(q, mirrored(inner));
  // sum r⁻ᴴ
  NodeRef ga = adjoint(triangular_solve(r1, adjoint(sum), {.lower = false}, "qr"));
  if (gy) {
    ga = joined(ga, gy, 0);
  }
  return ga;
}

// --- composed functions

// conj(det a) a⁻ᴴ. It is finite even if a is singular; then it is computed from singular values.
NodeRef cofactors(const NodeRef& a, const NodeRef& det_of_a) {
  const auto choice = [&](auto&& make) {
    const BodyNumbers numbers;
    const NodeRef given = make_argument(a->dtype, a->shape);
    return close_body({"det", {given}, {make(given)}, numbers}).bind_to({a});
  };
  const BoundBody choices[] = {
      choice([](const NodeRef& x) -> NodeRef {
        return of_each(conjugate(det(x))) * Expr(inverse_adjoint(x, "det"));
      }),
      choice([](const NodeRef& x) -> NodeRef {
        const auto [u, s, vh] = svd(x, false, "det");
        // For each singular value, the product of all others.
        const int64_t axis = s->shape.rank - 1;
        const int64_t n = s->shape[axis];
        const auto before = [&](bool reversed) {
          Shape one = s->shape, rest = s->shape;
          one[axis] = 1;
          rest[axis] = n - 1;
          StridedSlice range(s->shape.rank);
          if (reversed) range.start[axis] = 1;
          const NodeRef all = scan(Op::cumulative_prod, slice(s, rest, range), axis, reversed);
          const NodeRef first = ones(one, s->dtype);
          const NodeRef parts[] = {reversed ? all : first, reversed ? first : all};
          return Expr(concat(parts, axis));
        };
        const Expr others = cast(before(false) * before(true), u->dtype);
        return of_each(conjugate(Expr(det(u)) * Expr(det(vh)))) *
               times(Expr(u) * Expr(by_columns(others)), vh);
      })};
  const NodeRef singular =
      reduce(Op::any, Expr(det_of_a) == zero_of(det_of_a), std::nullopt, false);
  return output_of(make_branch(cast(singular, DType::Int64), choices), 0);
}

struct LinalgRule : Rule {
  LinalgRule() {
    refs = 1;  // never freed
    of_library = true;
  }
};

// Of x with a x = b, or aᴴ x = b if `reversed`.
std::pair<NodeRef, NodeRef> solve_cotangents(const NodeRef& a, const NodeRef& x, const NodeRef& g,
                                             bool reversed) {
  const NodeRef gb = reversed ? solve(a, g, "solve") : solve_adjoint(a, g);
  if (reversed) return {-times(x, adjoint(gb)), gb};
  return {-times(gb, adjoint(x)), gb};
}

struct SolveRule : LinalgRule {
  std::vector<Cotangent> apply(const RuleCall& call) override {
    const auto [ga, gb] = solve_cotangents(NodeRef(call.inputs[0]), NodeRef(call.node),
                                           NodeRef(call.cotangents[0]), call.node->attr.reversed);
    return {{Cotangent::Value, ga}, {Cotangent::Value, gb}};
  }
};

struct DetRule : LinalgRule {
  std::vector<Cotangent> apply(const RuleCall& call) override {
    const NodeRef a(call.inputs[0]), y(call.node), g(call.cotangents[0]);
    if (a->shape.size() == 0) return {{Cotangent::Zero}};
    return {{Cotangent::Value, of_each(g) * Expr(cofactors(a, y))}};
  }
};

struct LogabsdetRule : LinalgRule {
  std::vector<Cotangent> apply(const RuleCall& call) override {
    const NodeRef a(call.inputs[0]), g(call.cotangents[0]);
    return {{Cotangent::Value, of_each(cast(g, a->dtype)) * Expr(inverse_adjoint(a, "slogdet"))}};
  }
};

}  // namespace

Rule* linalg_rule(Composite composite) {
  static auto* const solve = new SolveRule;
  static auto* const det = new DetRule;
  static auto* const logabsdet = new LogabsdetRule;
  switch (composite) {
    case Composite::solve:
      return solve;
    case Composite::det:
      return det;
    case Composite::logabsdet:
      return logabsdet;
    default:
      return nullptr;
  }
}

std::vector<NodeRef> routine_cotangents(const NodeRef& operation, std::span<Node* const> outputs,
                                        std::span<const NodeRef> g,
                                        std::span<const uint8_t> wanted) {
  const NoOverrides none;
  const Outputs out{operation, outputs};
  std::vector<NodeRef> answers(wanted.size());
  if (std::ranges::none_of(g, [](const NodeRef& one) { return one != nullptr; })) return answers;
  switch (operation->operation->form.routine) {
    case Routine::cholesky:
      answers[0] = cholesky_cotangent(out, g[0]);
      break;
    case Routine::triangular_solve:
      std::tie(answers[0], answers[1]) = triangular_cotangents(operation, out, g[0]);
      break;
    case Routine::lu:
      if (g[0]) answers[0] = lu_cotangent(operation, out, g[0]);
      if (g.size() > 4 && g[4]) {
        const Expr by_det =
            of_each(g[4]) * Expr(cofactors(NodeRef(operation->inputs()[0]), out[4]));
        answers[0] = answers[0] ? NodeRef(Expr(answers[0]) + by_det) : NodeRef(by_det);
      }
      break;
    case Routine::solve: {
      const bool reversed = operation->operation->form.transposition != Transposition::None;
      const auto [ga, gb] =
          solve_cotangents(NodeRef(operation->inputs()[0]), out[0], g[0], reversed);
      answers[0] = ga;
      if (answers.size() > 1) answers[1] = gb;
      break;
    }
    case Routine::qr:
      answers[0] = qr_cotangent(operation, out, g[0], g[1]);
      break;
    case Routine::svd:
      answers[0] = svd_cotangent(operation, out, g);
      break;
    case Routine::eigh:
      answers[0] = eigh_cotangent(operation, out, g);
      break;
    case Routine::eig:
      answers[0] = eig_cotangent(operation, out, g);
      break;
    case Routine::absent:
    case Routine::pseudo_inverse:  // of an operand without gradient
      break;
    case Routine::attention:
    case Routine::attention_cotangents:
      return attention_cotangents(operation, outputs, g);
    case Routine::fourier:
      answers[0] = fourier_cotangent(operation, g[0]);
      break;
    default:
      return matrix_function_cotangents(operation, out[0], g[0]);
  }
  return answers;
}

}  // namespace pullback
