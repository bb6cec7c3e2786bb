// Linear algebra: factorisations and eigenvalues (routines, graph/operation.h), and functions
// composed of them.
//
// Matrices are the last two axes; axes before them are the batch. LinAlgError if an operand is not
// a matrix, or not square where it must be.
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

// l with a = l lᴴ, lower triangular. Reads only the lower triangle of a.
NodeRef cholesky(const NodeRef& a);

struct Triangle {
  bool lower = false, unit = false;  // which triangle is read; `unit`: its diagonal is 1
  Transposition transposition = Transposition::None;
};
// x with op(t) x = b. The other triangle of t counts as zero. `who`, for errors, must live as long
// as the process.
NodeRef triangular_solve(const NodeRef& t, const NodeRef& b, const Triangle& triangle,
                         const char* who = "solve_triangular");

// a[positions] = l u. `packed` has l and u in one matrix. Also the sign of the permutation, for
// each row the row that it was swapped with, in order, and the determinant; null if a is not
// square.
struct Lu {
  NodeRef packed, positions, sign, swaps, det;
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

// The pseudo-inverse of a is left · right, of which the shorter side of a is the inner one. Without
// gradient. `tolerance`: for each matrix a real 1×1 matrix; singular values up to that times the
// largest count as 0.
struct PseudoInverse {
  NodeRef left, right;
};
PseudoInverse pseudo_inverse(const NodeRef& a, const NodeRef& tolerance, const char* who);

struct Eigen {
  NodeRef w, v;
};
// Reads the lower triangle.
Eigen eigh(const NodeRef& a, const char* who = "eigh", Degenerate degenerate = Degenerate::Nan);
// For any square matrix; both results are complex.
Eigen eig(const NodeRef& a, const char* who = "eig", Degenerate degenerate = Degenerate::Nan);

// x with a x = b; b has rank 1 or consists of matrices.
NodeRef solve(const NodeRef& a, const NodeRef& b, const char* who = "solve");
NodeRef inv(const NodeRef& a, const char* who = "inv");
NodeRef det(const NodeRef& a);
struct Slogdet {
  NodeRef sign, logabsdet;
};
Slogdet slogdet(const NodeRef& a);

// The conjugate transpose of each matrix.
NodeRef adjoint(const NodeRef& x);

// Rows of each matrix in the order of `positions`; `back` applies the inverse permutation.
NodeRef permuted_rows(const NodeRef& x, const NodeRef& positions, bool back);
// x with aᴴ x = b; one dtype and batch.
NodeRef solve_adjoint(const NodeRef& a, const NodeRef& b, const char* who = "solve");
NodeRef inverse_adjoint(const NodeRef& a, const char* who);
// Returns real zeros unchanged; fails with `who` if an entry is not zero.
NodeRef absent(const NodeRef& marks, const char* who);
// Makes a node of the routine, with its outputs. m, n and is_complex of the form are set from the
// first operand; all operands have its batch.
NodeRef make_routine(RoutineForm form, std::span<const NodeRef> given,
                     std::vector<TensorType> outputs);
// The same routine of other matrices, which may have more batch axes.
NodeRef routine_like(const NodeRef& operation, std::span<const NodeRef> inputs);

// --- derivatives, for the passes of grad

// The cotangent of each wanted input, from the cotangents of the outputs (null: none). `outputs`:
// null for an output that was freed.
std::vector<NodeRef> routine_cotangents(const NodeRef& operation, std::span<Node* const> outputs,
                                        std::span<const NodeRef> cotangents,
                                        std::span<const uint8_t> wanted);

}  // namespace pullback
