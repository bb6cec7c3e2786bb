// Cotangents of the routines and of what is made of them. Sources: M. Giles, "Collected matrix
// derivative results for forward and reverse mode algorithmic differentiation" (2008); I. Murray,
// "Differentiation of the Cholesky decomposition" (2016); S. Walter, L. Lehmann, "Algorithmic
// differentiation of linear algebra functions" (2010); J. Townsend, "Differentiating the singular
// value decomposition" (2016); H.-J. Liao and others, "Differentiable programming tensor networks"
// (2019) for qr. Complex ones take the conjugate convention.
#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "graph/make.h"
#include "ops/body.h"
#include "ops/complex.h"
#include "ops/expr.h"
#include "ops/linalg.h"

namespace pullback {
namespace {

int64_t rows(const NodeRef& x) { return x->shape[x->shape.rank - 2]; }
int64_t columns(const NodeRef& x) { return x->shape[x->shape.rank - 1]; }

Expr times(const NodeRef& a, const NodeRef& b) { return matmul(a, b); }

// What stands in a matrix: whether row + offset >= column.
Expr below(const NodeRef& x, int64_t offset) {
  const Expr row = expand_dims(iota(rows(x)), {1});
  return row + Expr(scalar(DType::Int64, static_cast<double>(offset))) >= Expr(iota(columns(x)));
}
Expr zero_of(const NodeRef& x) { return scalar(x->dtype, 0); }
Expr lower(const NodeRef& x, int64_t offset = 0) {
  return formula::where(below(x, offset), Expr(x), zero_of(x));
}
Expr upper(const NodeRef& x, int64_t offset = 0) {
  return formula::where(below(x, offset - 1), zero_of(x), Expr(x));
}
Expr on_diagonal(const NodeRef& x) {
  const Expr row = expand_dims(iota(rows(x)), {1});
  return row == Expr(iota(columns(x)));
}
// A vector as the factors of columns, or of rows.
Expr by_columns(const NodeRef& s) { return expand_dims(s, {s->shape.rank - 1}); }
Expr by_rows(const NodeRef& s) { return expand_dims(s, {s->shape.rank}); }

// A number for each matrix.
Expr of_each(const NodeRef& x) { return expand_dims(x, {x->shape.rank, x->shape.rank + 1}); }

Expr half(const Expr& x) { return x * Expr(scalar(x.node->dtype, 0.5)); }
Expr hermitian(const Expr& x) { return half(x + Expr(adjoint(x))); }

// x with half of what is on its diagonal, whose imaginary part is nothing.
Expr lower_half(const Expr& x) {
  const Expr real = is_complex(x.node->dtype) ? Expr(cast(real_part(x), x.node->dtype)) : x;
  return formula::where(on_diagonal(x), half(real), lower(x));
}

// The lower triangle and what it is mirrored.
Expr mirrored(const Expr& x) {
  const Expr part = lower_half(x);
  return part + Expr(adjoint(part));
}

// s_j - s_i, and 1 on the diagonal.
Expr gaps_of(const Expr& s) {
  const Expr gaps = by_columns(s) - by_rows(s);
  return formula::where(on_diagonal(gaps), Expr(scalar(gaps.node->dtype, 1)), gaps);
}

Expr identity_like(const NodeRef& x) { return eye(rows(x), columns(x), 0, x->dtype); }

// --- rules of the routines; `g` are the cotangents, null where there is none

struct Outputs {
  const NodeRef& operation;
  std::span<Node* const> known;
  NodeRef operator[](size_t k) const {
    return known[k] ? NodeRef(known[k]) : output_of(operation, k);
  }
};

NodeRef cholesky_cotangent(const Outputs& out, const NodeRef& g) {
  const NodeRef l = out[0];
  const Triangle turned{.lower = true, .turn = Turn::Adjoint};
  const Expr inner = lower_half(times(adjoint(l), lower(g)));
  const NodeRef left = triangular_solve(l, inner, turned, "cholesky");
  return hermitian(adjoint(triangular_solve(l, adjoint(left), turned, "cholesky")));
}

std::pair<NodeRef, NodeRef> triangular_cotangents(const NodeRef& operation, const Outputs& out,
                                                  const NodeRef& g) {
  const MatrixForm& form = operation->operation->matrix;
  const NodeRef t(operation->inputs()[0]);
  const NodeRef x = out[0];
  constexpr const char* who = "solve_triangular";
  NodeRef gb;
  Expr gt = zero_of(t);
  switch (form.turn) {
    case Turn::None:
      gb = triangular_solve(t, g, {form.lower, form.unit, Turn::Adjoint}, who);
      gt = times(gb, adjoint(x));
      break;
    case Turn::Transposed:  // its adjoint is the conjugate, which the library does not solve
      gb = conjugate(triangular_solve(t, conjugate(g), {form.lower, form.unit, Turn::None}, who));
      gt = times(conjugate(x), swap_last_axes(gb));
      break;
    case Turn::Adjoint:
      gb = triangular_solve(t, g, {form.lower, form.unit, Turn::None}, who);
      gt = times(x, adjoint(gb));
      break;
  }
  const int64_t off = form.unit ? 1 : 0;
  return {-(form.lower ? lower(gt, -off) : upper(gt, off)), gb};
}

NodeRef lu_cotangent(const NodeRef& operation, const Outputs& out, const NodeRef& g) {
  const MatrixForm& form = operation->operation->matrix;
  if (form.m != form.n) {
    fail(ErrorKind::NotImplemented, "lu: gradients of matrices that are not square");
  }
  const NodeRef packed = out[0];
  const Expr l = lower(packed, -1) + identity_like(packed);
  const Expr u = upper(packed);
  const Expr inner =
      lower(times(adjoint(l), lower(g, -1)), -1) + upper(times(upper(g), adjoint(u)));
  // l⁻ᴴ inner u⁻ᴴ
  const NodeRef left =
      triangular_solve(packed, inner, {.lower = true, .unit = true, .turn = Turn::Adjoint}, "lu");
  const NodeRef whole = adjoint(triangular_solve(packed, adjoint(left), {}, "lu"));
  return permuted_rows(whole, out[1], true);
}

NodeRef qr_cotangent(const NodeRef& operation, const Outputs& out, NodeRef gq, NodeRef gr) {
  const MatrixForm& form = operation->operation->matrix;
  const int64_t m = form.m, n = form.n;
  if (form.full && m > n) {
    fail(ErrorKind::NotImplemented,
         "qr: gradients of mode='complete' of matrices with more rows than columns; its further "
         "columns are any basis");
  }
  const NodeRef q = out[0], r = out[1];
  if (gq == nullptr) gq = zeros(q->shape, q->dtype);
  if (gr == nullptr) gr = zeros(r->shape, r->dtype);
  const int64_t k = std::min(m, n);
  const auto part = [&](const NodeRef& x, int64_t from, int64_t count) {
    Window window(x->shape.rank);
    window.start[x->shape.rank - 1] = from;
    Shape shape = x->shape;
    shape[shape.rank - 1] = count;
    return slice(x, shape, window);
  };
  NodeRef gy;
  NodeRef r1 = r, gr1 = gr;
  if (n > k) {  // a = [x, y], x = q u, y = q v
    const NodeRef y = part(NodeRef(operation->inputs()[0]), k, n - k);
    const NodeRef gv = part(gr, k, n - k);
    gy = times(q, gv);
    gq = Expr(gq) + times(y, adjoint(gv));
    r1 = part(r, 0, k);
    gr1 = part(gr, 0, k);
  }
  const Expr inner = times(r1, adjoint(gr1)) - times(adjoint(gq), q);
  const Expr sum = Expr(gq) + times(q, mirrored(inner));
  // sum r⁻ᴴ
  NodeRef ga = adjoint(triangular_solve(r1, adjoint(sum), {.lower = false}, "qr"));
  if (gy) {
    const NodeRef parts[] = {ga, gy};
    ga = concat(parts, ga->shape.rank - 1);
  }
  return ga;
}

NodeRef svd_cotangent(const NodeRef& operation, const Outputs& out, std::span<const NodeRef> g) {
  const MatrixForm& form = operation->operation->matrix;
  const NodeRef& gs = g[1];
  if (form.full && (g[0] || g[2]) && form.m != form.n) {
    fail(ErrorKind::NotImplemented,
         "svd: gradients by u and vh of full_matrices=True; their further vectors are any basis");
  }
  const NodeRef whole_u = out[0], s = out[1], whole_v = out[2];
  const int64_t k = std::min(form.m, form.n);
  const auto first = [&](const NodeRef& x, int64_t axis) {
    Shape shape = x->shape;
    shape[axis] = k;
    return shape == x->shape ? x : slice(x, shape, Window(x->shape.rank));
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
  const Expr by = cast(gaps_of(Expr(s) * Expr(s)), u->dtype);
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
  inner = formula::where(on_diagonal(inner), none, inner / by);
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

NodeRef eigh_cotangent(const Outputs& out, const NodeRef& gw, const NodeRef& gv) {
  const NodeRef v = out[1];
  const Expr none = scalar(v->dtype, 0);
  NodeRef inner;
  if (gv) {
    const Expr mixed = times(adjoint(v), gv);
    inner = formula::where(on_diagonal(mixed), none, mixed / cast(gaps_of(out[0]), v->dtype));
  }
  if (gw && inner == nullptr) {
    return times(Expr(v) * Expr(by_columns(cast(gw, v->dtype))), adjoint(v));
  }
  if (gw) {
    inner = Expr(inner) + formula::where(on_diagonal(inner), by_columns(cast(gw, v->dtype)), none);
  }
  return hermitian(times(times(v, inner), adjoint(v)));
}

// --- what is made of them

// conj(det a) a⁻ᴴ, which is finite also where a has no inverse: then the singular values say it.
NodeRef cofactors(const NodeRef& a, const NodeRef& det_of_a) {
  const auto choice = [&](auto&& make) {
    const BodyNumbers numbers;
    const NodeRef given = make_argument(a->dtype, a->shape);
    ClosedBody closed = close_body({"det", {given}, {make(given)}, numbers});
    Choice out{std::move(closed.body), {a}};
    out.inputs.insert(out.inputs.end(), closed.captured.begin(), closed.captured.end());
    return out;
  };
  const Choice choices[] = {
      choice([](const NodeRef& x) -> NodeRef {
        return of_each(conjugate(det(x))) *
               Expr(solve_turned(x, broadcast_to(identity_like(x), x->shape)));
      }),
      choice([](const NodeRef& x) -> NodeRef {
        const auto [u, s, vh] = svd(x, false, "det");
        // The product of all but each.
        const int64_t axis = s->shape.rank - 1;
        const int64_t n = s->shape[axis];
        const auto before = [&](bool reversed) {
          Shape one = s->shape, rest = s->shape;
          one[axis] = 1;
          rest[axis] = n - 1;
          Window window(s->shape.rank);
          if (reversed) window.start[axis] = 1;
          const NodeRef all = scan(Op::cumulative_prod, slice(s, rest, window), axis, reversed);
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

struct SolveRule : LinalgRule {
  std::vector<Cotangent> apply(const RuleCall& call) override {
    const NodeRef a(call.inputs[0]), x(call.node), g(call.cotangents[0]);
    if (!call.node->attr.reversed) {
      const NodeRef gb = solve_turned(a, g);
      return {{Cotangent::Value, -times(gb, adjoint(x))}, {Cotangent::Value, gb}};
    }
    const NodeRef gb = solve(a, g, "solve");
    return {{Cotangent::Value, -times(x, adjoint(gb))}, {Cotangent::Value, gb}};
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
    return {
        {Cotangent::Value, of_each(cast(g, a->dtype)) *
                               Expr(solve_turned(a, broadcast_to(identity_like(a), a->shape)))}};
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
  switch (operation->operation->matrix.routine) {
    case Routine::cholesky:
      answers[0] = cholesky_cotangent(out, g[0]);
      break;
    case Routine::triangular_solve:
      std::tie(answers[0], answers[1]) = triangular_cotangents(operation, out, g[0]);
      break;
    case Routine::lu:
      if (g[0]) answers[0] = lu_cotangent(operation, out, g[0]);
      break;
    case Routine::qr:
      answers[0] = qr_cotangent(operation, out, g[0], g[1]);
      break;
    case Routine::svd:
      answers[0] = svd_cotangent(operation, out, g);
      break;
    case Routine::eigh:
      answers[0] = eigh_cotangent(out, g[0], g[1]);
      break;
  }
  return answers;
}

}  // namespace pullback
