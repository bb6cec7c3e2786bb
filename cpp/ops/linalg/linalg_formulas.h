// Notation for the rules of linear algebra: masks of triangles, products with diagonals, and
// Outputs, the outputs of a routine. Included by the files of rules only.
#pragma once

#include "graph/make.h"
#include "ops/body.h"
#include "ops/complex.h"
#include "ops/expr.h"
#include "ops/linalg/linalg.h"

namespace pullback::linalg_formula {

inline Expr times(const NodeRef& a, const NodeRef& b) { return matmul(a, b); }

// A mask of each matrix: row + offset >= column.
inline Expr below(const NodeRef& x, int64_t offset) {
  const Expr row = expand_dims(iota(rows(x)), {1});
  return row + Expr(scalar(DType::Int64, static_cast<double>(offset))) >= Expr(iota(columns(x)));
}
inline Expr zero_of(const NodeRef& x) { return scalar(x->dtype, 0); }
inline Expr lower(const NodeRef& x, int64_t offset = 0) {
  return formula::where(below(x, offset), Expr(x), zero_of(x));
}
inline Expr upper(const NodeRef& x, int64_t offset = 0) {
  return formula::where(below(x, offset - 1), zero_of(x), Expr(x));
}
inline Expr on_diagonal(const NodeRef& x) {
  const Expr row = expand_dims(iota(rows(x)), {1});
  return row == Expr(iota(columns(x)));
}
// A vector as the factors of columns, or of rows.
inline Expr by_columns(const NodeRef& s) { return expand_dims(s, {s->shape.rank - 1}); }
inline Expr by_rows(const NodeRef& s) { return expand_dims(s, {s->shape.rank}); }

// One number per matrix, broadcastable to it.
inline Expr of_each(const NodeRef& x) { return expand_dims(x, {x->shape.rank, x->shape.rank + 1}); }

inline Expr half(const Expr& x) { return x * Expr(scalar(x.node->dtype, 0.5)); }
inline Expr hermitian(const Expr& x) { return half(x + Expr(adjoint(x))); }

inline Expr identity_like(const NodeRef& x) { return eye(rows(x), columns(x), 0, x->dtype); }

// The outputs of a routine: existing nodes, or new ones for freed outputs.
struct Outputs {
  const NodeRef& operation;
  std::span<Node* const> known;
  NodeRef operator[](size_t k) const {
    return known[k] ? NodeRef(known[k]) : output_of(operation, k);
  }
};

// In linalg_spectral_rules.cpp. `g`: the cotangents of the outputs, null for none.
NodeRef svd_cotangent(const NodeRef& operation, const Outputs& out, std::span<const NodeRef> g);
NodeRef eigh_cotangent(const NodeRef& operation, const Outputs& out, std::span<const NodeRef> g);
NodeRef eig_cotangent(const NodeRef& operation, const Outputs& out, std::span<const NodeRef> g);

}  // namespace pullback::linalg_formula
