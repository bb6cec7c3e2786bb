// Operations with several outputs, and the pieces of graph that loops and branches hold.
//
// Such an operation is a node without a value; each output is a node of its own that has the
// operation as an input: a `result` of a custom_call, an `output` of a loop, a branch or a
// routine.
//
// A Body is a closed piece of graph: what lies between its inputs and its roots. Nothing of it is
// part of the graph around it. What a body uses from outside became inputs when it was closed
// (ops/body.h), so the operation that holds it has all that it depends on among its own inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/node.h"

namespace pullback {

struct Body {
  int64_t refs = 0;
  std::string name;  // of the function and its place, for errors; may be empty
  // Arguments, placeholders for what was used from outside, and the draws' seeds and counters.
  std::vector<NodeRef> inputs;
  std::vector<NodeRef> roots;
  // The numbers of what was made for it: from the first on, before the second.
  std::vector<std::pair<uint64_t, uint64_t>> made;
  bool holds_rules = false;  // of users, here or in a body inside

  // What the planner remembers of it.
  struct Planned {
    virtual ~Planned() = default;
  };
  std::unique_ptr<Planned> planned;
};

void add_ref(Body* body);
void release(Body* body);

// What a loop is beside its bodies.
//
// Its inputs are what it carries, what it goes along (stacked: an entry of the first axis for each
// iteration), and constants; those of its body are the same for one iteration, and the body's roots
// are what it carries on, then an entry of each of what is stacked from it. Its outputs are
//
//   what it carries at the end;
//   what is stacked;
//   the number of iterations (int64);
//   the residuals: of each of what it carries what came into the iterations, stacked. Where the
//   number of iterations is not known, there are none.
//
// Entry p of what is stacked belongs to iteration p, or from the end to iteration trips - 1 - p.
struct LoopForm {
  int32_t carries = 0, stacked_in = 0, stacked_out = 0;
  int64_t trips = 0;  // or …
  bool reversed = false;
  int64_t memory = 0;  // bytes that the states of a gradient may take; 0: as many as there are
};
constexpr int64_t kWhile = -1;    // … as long as a second body says
constexpr int64_t kCounted = -2;  // … as many as the last input says (int64, rank 0)

// A routine of a library of linear algebra, or a Fourier transform. What it is given and what it
// makes are matrices, the last two axes, one for each place of the axes before, which all of them
// have.
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
// What a triangle is solved as: itself, transposed, conjugate transposed.
enum class Transposition : uint8_t { None, Transposed, Adjoint };
// What the derivatives of single vectors of equal values are: NaN, without what these vectors say
// of each other, a failure.
enum class Degenerate : uint8_t { Nan, Mask, Error };
// A transform of `points` numbers, unnormalised, times a factor. Of real numbers it makes the first
// half of what is symmetric, points / 2 + 1 of them, and the other way round.
struct FourierForm {
  bool backward = false;  // the exponent's sign; between reals and halves it is + from halves
  int64_t points = 0;
  double factor = 1;
  double ends = 1;  // what those of a half are multiplied by that have no mirror image: the first,
                    // and where points is even the last
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
  std::vector<TensorType> outputs;  // also those that died
  // Of a loop: one iteration, and a condition or another loop's. Of a branch: the choices.
  std::vector<Ref<Body>> bodies;
  // For each body: which inputs of the operation its own are.
  std::vector<std::vector<int32_t>> inputs;
  LoopForm loop;
  RoutineForm form;   // of a routine, and …
  int64_t batch = 1;  // … how many matrices

  // The reverse of a loop whose number of iterations was not known goes along residuals that it
  // makes itself: it runs that loop again, whose body is its second. What it carries are
  // cotangents, …
  std::vector<int32_t>
      residuals;  // of each of what it goes along: what the other one carries. Such
                  // an input is no input of the operation, but -1 - its number here.
  std::vector<int32_t> cotangents_of;  // … each of this input of the other's body

  bool replays() const { return !residuals.empty(); }
};

}  // namespace pullback
