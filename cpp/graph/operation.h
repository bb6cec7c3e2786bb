// Operations with several outputs, and the bodies of loops and branches.
//
// Such an operation is a node without a value; each output is a node of its own that has the
// operation as an input: a `result` of a custom_call, an `output` of a loop, a branch or a routine.
// Operation holds what the node itself has no room for; LoopForm and RoutineForm are the parts of
// it that a plan needs.
//
// A Body is a closed graph of which no node is part of the graph around it. Tensors from outside
// that a body uses became inputs when it was closed (ops/body.h), so the inputs of the operation
// include everything that the body depends on.
//
// Read Body and LoopForm first; lowering is in plan/passes/lower_control.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/closed_graph.h"

namespace pullback {

// Inputs: arguments, placeholders for tensors used from outside, and the draws' seeds and counters.
struct Body : ClosedGraph {
  Body() : ClosedGraph(Extent::Body) {}
  std::string name;  // of the function and its place, for errors; may be empty

  // Cached by the planner: the key of the body.
  struct Planned {
    virtual ~Planned() = default;
  };
  std::unique_ptr<Planned> planned;
};

// A loop without its bodies: a scan, as lax.scan in JAX.
//
// Inputs of a loop: the carry, the scanned inputs (`xs`, one entry of the first axis for each
// iteration), and constants. The body has the same inputs for one iteration. Its roots are the next
// carry, then one entry of each stacked output (`ys`). Outputs of a loop:
//
//   the final carry;
//   the stacked outputs;
//   the number of iterations (int64);
//   the residuals: for each carry its values at the start of every iteration, stacked. A loop whose
//   number of iterations is unknown has none.
//
// Entry p of a stacked array belongs to iteration p; if `reversed`, to iteration trips - 1 - p.
struct LoopForm {
  int32_t carries = 0, stacked_in = 0, stacked_out = 0;
  int64_t trips = 0;  // number of iterations, or kWhile, or kCounted
  bool reversed = false;
  int64_t memory = 0;  // bytes that the residuals of a gradient may take; 0: no limit
};
constexpr int64_t kWhile = -1;    // until the second body, the condition, returns false
constexpr int64_t kCounted = -2;  // the last input is the number of iterations (int64, rank 0)

// A routine of linear algebra, a Fourier transform, or attention. Operands and results are batches
// of matrices: the last two axes are the matrix, and all of them have the same axes before.
enum class Routine : uint8_t {
  cholesky,          // l of a = l lᴴ, of the lower triangle of a
  triangular_solve,  // x of op(t) x = b, of one triangle of t
  lu,                // l and u of a[p] = l u in one matrix, p, the sign of that permutation, the
                     // row that each was swapped with
  qr,                // q, r
  svd,               // u, s, vᴴ
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

struct Operation {
  int64_t refs = 0;
  std::vector<TensorType> outputs;  // of all outputs, whether their nodes still exist or not
  // Loop: one iteration, then the condition or the body of the replayed loop. Branch: the choices.
  std::vector<Ref<Body>> bodies;
  // For each body: the input of the operation that each of its inputs is.
  std::vector<std::vector<int32_t>> inputs;
  LoopForm loop;
  RoutineForm form;   // of a routine
  int64_t batch = 1;  // of a routine: number of matrices

  // The reverse of a loop of unknown length replays that loop (its second body) for the residuals.
  // Entry r is the carry of the replayed loop that scanned input r reads. Such a scanned input is
  // not an input of the operation: `inputs` has -1 - r for it.
  std::vector<int32_t> residuals;
  // For each carry, a cotangent: the input of the replayed body that it belongs to.
  std::vector<int32_t> cotangents_of;

  bool replays() const { return !residuals.empty(); }
};

}  // namespace pullback
