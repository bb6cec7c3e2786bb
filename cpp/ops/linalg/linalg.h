// Linear algebra: what routines of a library make (graph/operation.h), and what is made of that.
// Matrices are the last two axes, the axes before a batch. LinAlgError where an operand is no
// matrix, or not square where it has to be.
#pragma once

#include <initializer_list>
#include <span>

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

inline int64_t rows(const NodeRef& x) { return x->shape[x->shape.rank - 2]; }
inline int64_t columns(const NodeRef& x) { return x->shape[x->shape.rank - 1]; }
inline Shape batch_of(const NodeRef& x) {
  Shape out = x->shape;
  out.resize(x->shape.rank - 2);
  return out;
}
inline Shape with(Shape batch, std::initializer_list<int64_t> lengths) {
  for (const int64_t length : lengths) batch.append(length);
  return batch;
}

// l with a = l lᴴ, lower; only the lower triangle of a is read.
NodeRef cholesky(const NodeRef& a);

struct Triangle {
  bool lower = false, unit = false;  // which one is read; ones stand on its diagonal
  Transposition transposition = Transposition::None;
};
// x with op(t) x = b, where the other triangle of t counts as zero.
// `who`, for errors, lives as long as the program.
NodeRef triangular_solve(const NodeRef& t, const NodeRef& b, const Triangle& triangle,
                         const char* who = "solve_triangular");

// a[positions] = l u; l and u in one matrix; the sign of the permutation; which row each was
// swapped with, one after the other.
struct Lu {
  NodeRef packed, positions, sign, swaps;
};
Lu lu(const NodeRef& a, const char* who = "lu");

struct Qr {
  NodeRef q, r;
};
Qr qr(const NodeRef& a, bool full);

struct Svd {
  NodeRef u, s, vh;
};
Svd svd(const NodeRef& a, bool full, const char* who = "svd",
        Degenerate degenerate = Degenerate::Nan);

struct Eigen {
  NodeRef w, v;
};
// Of the lower triangle.
Eigen eigh(const NodeRef& a, const char* who = "eigh", Degenerate degenerate = Degenerate::Nan);
// Of any square matrix; both complex.
Eigen eig(const NodeRef& a, const char* who = "eig", Degenerate degenerate = Degenerate::Nan);

// x with a x = b; b is of rank 1, or matrices.
NodeRef solve(const NodeRef& a, const NodeRef& b, const char* who = "solve");
NodeRef inv(const NodeRef& a, const char* who = "inv");
NodeRef det(const NodeRef& a);
struct Slogdet {
  NodeRef sign, logabsdet;
};
Slogdet slogdet(const NodeRef& a);

// The transposed of each matrix, conjugated.
NodeRef adjoint(const NodeRef& x);

// Rows of each matrix in the order of positions, or (back) where they came from.
NodeRef permuted_rows(const NodeRef& x, const NodeRef& positions, bool back);
// x with aᴴ x = b, of one dtype and batch.
NodeRef solve_adjoint(const NodeRef& a, const NodeRef& b, const char* who = "solve");
// Real zeros as they are; `who` fails where one is not.
NodeRef absent(const NodeRef& marks, const char* who);
// A node of the routine, whose outputs are those of it; the form's m, n and is_complex follow from
// the first operand, whose batch all have.
NodeRef make_routine(RoutineForm form, std::span<const NodeRef> given,
                     std::vector<TensorType> outputs);
// The same routine of other matrices, which may have more axes before.
NodeRef routine_like(const NodeRef& operation, std::span<const NodeRef> inputs);

// --- derivatives, for the passes of grad

// Of each input that is wanted, by the cotangents of the outputs; null where there is none.
// `outputs`: those that are there, null for the others.
std::vector<NodeRef> routine_cotangents(const NodeRef& operation, std::span<Node* const> outputs,
                                        std::span<const NodeRef> cotangents,
                                        std::span<const uint8_t> wanted);

}  // namespace pullback
