// RoutineForm: the attributes of a routine of linear algebra, a Fourier transform or attention.
// Plain data, without nodes: plans contain it.
#pragma once

#include <cstdint>

namespace pullback {

// A routine of linear algebra, a Fourier transform, or attention. Operands and results are batches
// of matrices: the last two axes are the matrix, and all of them have the same axes before.
enum class Routine : uint8_t {
  cholesky,          // l of a = l lᴴ, of the lower triangle of a
  triangular_solve,  // x of op(t) x = b, of one triangle of t
  lu,                // l and u of a[p] = l u in one matrix, p, the sign of that permutation, the
                     // row that each was swapped with, the determinant of a square a
  solve,             // x of op(a) x = b, of small real matrices; the inverse of op(a) without b
  qr,                // q, r
  svd,               // u, s, vᴴ
  pseudo_inverse,    // left and right with left · right = the pseudo-inverse of a, where singular
                     // values up to a tolerance times the largest count as 0
  eigh,              // the eigenvalues of the lower triangle, ascending, and the vectors
  eig,               // the eigenvalues and the vectors, both complex
  absent,            // zeros as they are; fails where one is another number
  expm,              // e to the power of a
  logm,              // the principal logarithm of a
  sqrtm,             // the principal square root of a
  sylvester,         // x of a x + x b = c
  banded_solve,      // x of op(a) x = b, by the diagonals of a
  swap_rows,         // a, whose row i was swapped with row p[i], one i after the other
  // Our own, of matrices too: see ops/linalg/attention.h.
  attention,
  attention_cotangents,
  fourier,  // the transform of each column
};
const char* name_of(Routine routine);
constexpr bool is_attention(Routine routine) {
  return routine == Routine::attention || routine == Routine::attention_cotangents;
}
// The form op(t) of a triangle or a band in a solve: itself, transposed, conjugate transposed.
enum class Transposition : uint8_t { None, Transposed, Adjoint };
// The derivative of one vector among several with equal (singular or eigen) values: NaN, a
// derivative without the terms between these vectors, or a failure.
enum class Degenerate : uint8_t { Nan, Mask, Error };
// An unnormalised Fourier transform of `points` numbers, times a factor. The transform of real
// numbers is symmetric; its first points / 2 + 1 numbers are stored, and read by the inverse.
struct FourierForm {
  bool backward = false;  // the exponent's sign; between reals and halves it is + from halves
  int64_t points = 0;
  double factor = 1;
  double ends = 1;  // factor of the stored numbers without a mirror image: the first and, if
                    // `points` is even, the last
};
struct RoutineForm {
  Routine routine = Routine::cholesky;
  bool lower = false, unit = false;  // triangular_solve: which triangle, and ones on its diagonal
  Transposition transposition = Transposition::None;
  bool full = false;                        // qr, svd: square q, u, v
  Degenerate degenerate = Degenerate::Nan;  // svd, eigh, eig: of the rule, no matter of a plan
  bool is_complex = false;                  // pairs in memory
  int64_t m = 0, n = 0;                     // of the first input
  int64_t k = 0;                            // columns of the second, where there is one
  int64_t below = 0;                        // banded_solve: diagonals below the main one
  bool backwards = false;                   // swap_rows: the last one first
  FourierForm fourier;
  const char* who = nullptr;  // the function that errors name, where it is not the routine's own
  // attention: no key after its query takes part; there is a mask; weights are dropped.
  bool causal = false, masked = false, dropped = false;
};

}  // namespace pullback
