// The plan: the steps that compute a subgraph. Plain data.
//
// A Plan lists slots (memory of arguments, outputs and temporaries) and Steps that read and write
// Views of slots. Work is the variant of all kinds of steps. A plan owns no memory and has no
// nodes, no Python and no gradients; a backend reads nothing else. It is immutable once it is in
// the cache, so threads share it without a lock. Start reading at Plan, at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "graph/op.h"
#include "graph/routine.h"
#include "graph/windowing.h"
#include "plan/view.h"

namespace pullback {

enum class SlotKind : uint8_t { Argument, Output, Temporary };

struct Slot {
  SlotKind kind;
  DType dtype;
  int64_t bytes = 0;
  // Argument, Output: number in the run's list; Temporary: offset in the arena, in bytes.
  int64_t index = 0;
};

// --- a tile group: a straight-line program of elementwise operations over `count` elements
//
// The elements lie in row-major order and are seen as rows of `length` (1 if rows are of no
// importance). A value has one entry an element or one entry a row. Values are numbered: first the
// loads, then the scalars, then the instructions. A load's view has `count` or `rows` elements in
// row-major order, whatever its own shape is, so reshapes cost nothing. Instructions over elements
// may read values over rows: each entry is repeated along its row. Folds turn elements into rows,
// so a softmax with its gradient is one group.

struct Instruction {
  Op op;         // elementwise, cast; over rows also sum, max, min, all, any of elements in[0] and
                 // pick (entry in[1] of each row of in[0]); over elements also place (in[0] of each
                 // row at its entry in[1], zeros elsewhere)
  DType dtype;   // compute dtype (`where`: of its branches; cast, folds: of the input)
  DType result;  // dtype of the value
  int32_t in[3] = {-1, -1, -1};  // numbers of values
  bool row = false;              // its value has one entry a row
};

struct ScalarLoad {
  int32_t scalar;  // position in the run's scalars, or -1: it is `constant`
  DType dtype;     // floats are read from Scalar::f, the others from Scalar::i
  Scalar constant{};
};

// The view may be the memory of a flat load that no instruction reads after the value is computed:
// the group then works in place.
struct Store {
  int32_t value;
  View view;  // as many elements as the value has entries; row-major with offset 0, or in order of
              // memory in a slot that the group neither reads nor writes in the same place
};

// The value's entries, seen as [outer, reduced, inner], folded over the middle axis into out =
// [outer, inner], which is known only when the group is done.
struct Reduction {
  Op op;  // sum, max, min, all, any
  int32_t value;
  DType dtype;  // of the value; out.dtype may differ (sums of bool and int32 are int64)
  int64_t outer, reduced, inner;
  View out;  // row-major, offset 0
};

// One reduction may have any form if length is 1. Otherwise each folds everything (outer = inner =
// 1) or the columns of elements (outer = 1, inner = length).
struct TileGroup {
  int64_t count = 0;
  int64_t length = 1;
  std::vector<View> loads;
  std::vector<ScalarLoad> scalars;
  std::vector<Instruction> instructions;
  std::vector<Store> stores;
  std::vector<Reduction> reductions;

  int64_t rows() const { return count / length; }
};

// --- the other steps

// c[batch…, m, n] = a[batch…, m, k] · b[batch…, k, n]; batch axes of a and b may have stride 0; c
// is row-major. The last two strides of a and b are free: a backend turns them into transpose
// flags.
struct Gemm {
  View a, b, c;
  std::optional<TileGroup> epilogue;  // runs on c, a flat load of it, while c is in the cache
};

// y[n, o…, g, b] = the sum over taps k and channels a of x[n, i…, g, a] w[k…, g, a, b], where i
// follows from o and k (graph/windowing.h; size is that of w). x and w have any strides; y is
// row-major.
struct Convolution {
  View x, w, y;
  Windowing windows;
  std::optional<TileGroup> epilogue;  // as in Gemm, on y
};

// max_pool … max_pool_choose (ops/convolve.h) of x = [n, three axes, c]; `g` of the last two. All
// are row-major.
struct Pool {
  Op op;
  View in, out;
  std::optional<View> g;
  Windowing windows;
};

// Copies `in` to `out` element by element (same shape, any strides), or adds it to `out`. With
// `clear`, the whole slot of `out` is zeroed first.
struct Layout {
  View in, out;
  bool clear = false;
  bool add = false;
};

// out[o, i, n] = in[o, indices[i], n] with in = [outer, axis, inner], any strides. Negative indices
// count from the end. indices and out are row-major. `checked`: an earlier step has found all
// indices inside.
struct Gather {
  View in, indices, out;
  int64_t outer, axis, inner;
  bool checked = false;
};

// out[o, indices[i], n] gets in[o, i, n], in index order, with in = [outer, n, inner], any strides;
// indices and out = [outer, axis, inner] are row-major. With `clear`, out is zeroed first;
// otherwise it holds the base already. With `equal`, out[o, k, n] gets it, where k is the last
// place in the list with the same index, whatever that is: axis is the length of the list.
struct ScatterAdd {
  View in, indices, out;
  int64_t outer, axis, inner;
  Update update = Update::Add;
  bool clear = true;
  bool equal = false;
  bool checked = false;  // as in Gather
};

// The position of the largest or smallest entry along the middle axis of [outer, reduced, inner];
// the first of equals; a NaN wins. out is int64.
struct ArgReduce {
  Op op;  // argmax, argmin
  View in, out;
  int64_t outer, reduced, inner;
};

// cumulative_sum … linear_recurrence along the middle axis of [outer, length, inner], of which `in`
// and `factors` (of linear_recurrence alone) have any strides; out is row-major.
struct Scan {
  Op op;
  View in, out;
  std::optional<View> factors;
  bool reversed = false;
  int64_t outer, length, inner;
};

// The entries along the middle axis of [outer, length, inner] in order, or the positions (int64) of
// these: stable, NaN last. `in` has any strides; out is row-major.
struct Sort {
  Op op;  // sort, argsort
  View in, out;
  bool descending = false;
  int64_t outer, length, inner;
};

// For each entry of `in`, the number of entries of `sorted` (rank 1) that are less; `right`: not
// greater. in and out (int64) are row-major.
struct Search {
  View sorted, in, out;
  bool right = false;
};

// Element i from a counter-based generator at (seed, counter, i) and its parameters: an operation
// of ops/random.cpp. A parameter is row-major, or one number for all (strides of 0).
struct Random {
  Op op;
  int32_t seed, counter;  // positions in the run's scalars
  View out;
  std::vector<View> in;
};

// 0, 1, 2, … along the only axis of out.
struct Iota {
  View out;
};

// out = a callback applied to `in`, all row-major; a scalar of the run identifies the Callback
// (base/callback.h).
struct CallbackCall {
  int32_t function;  // position in the run's scalars
  std::vector<View> in;
  View out;
};

// A routine of linear algebra, Fourier transform or attention. Views are row-major; complex
// matrices are stored as pairs. The slot of an output that no step reads is -1.
struct LibraryCall {
  RoutineForm form;
  int64_t batch;
  std::vector<View> in, out;
};

// --- loops and branches: steps that run plans of their own

struct CachedPlan;  // plan/backend.h

// The plan of a body (graph/operation.h), and the step's inputs for its arguments.
struct BodyPlan {
  std::shared_ptr<const CachedPlan> plan;
  std::vector<int32_t> arguments;  // for each argument of the plan: the input of the step
  struct Number {
    Scalar value;
    int32_t input = -1;  // of a seed, a counter or a callback: the input; -1: use `value`
    bool seed = false;   // each iteration has a seed of its own: see seed_of_iteration
  };
  std::vector<Number> numbers;   // for each scalar of the plan
  std::vector<int32_t> results;  // for each root: its number among the plan's outputs; -1: unwanted
};

// A loop as in graph/operation.h. All views are row-major; no slot is both read and written.
struct Loop {
  BodyPlan body;
  std::optional<BodyPlan> condition;
  std::vector<View> in;        // inputs; the slot of one that is a scalar of the run is -1
  std::vector<int32_t> draws;  // for each input: its position in the run's scalars, if it is one
  // Final carry, stacked outputs, count, residuals. The slot of one that no step reads is -1.
  std::vector<View> out;
  std::vector<int64_t> carry_bytes;         // for each carry: its bytes
  int32_t stacked_in = 0, stacked_out = 0;  // number of scanned inputs and of stacked outputs
  int64_t trips = 0;                        // iterations, unless `counted` or a condition decides
  bool counted = false;                     // the last of `in` is the number of iterations
  bool reversed = false;                    // iteration 0 reads the last entries

  // A reverse that first replays another loop for its residuals has that loop's body here. In
  // `body` a residual is the argument -1 - its place in `residuals`.
  std::optional<BodyPlan> replayed;
  std::vector<int32_t> replayed_from;   // for each replayed carry: the input that it starts with
  std::vector<int64_t> replayed_bytes;  // for each replayed carry: its bytes
  std::vector<int32_t> residuals;       // for each scanned residual: the replayed carry
  int64_t memory = 0;                   // bytes that residuals may take; 0: no limit

  int32_t carries() const { return static_cast<int32_t>(carry_bytes.size()); }
};

// The first of `in` is the index of the choice that runs.
struct Branch {
  std::vector<BodyPlan> choices;
  std::vector<View> in;
  std::vector<int32_t> draws;  // see Loop
  std::vector<View> out;
};

using Work =
    std::variant<TileGroup, Gemm, Convolution, Pool, Layout, Gather, ScatterAdd, ArgReduce, Random,
                 Iota, Scan, Sort, Search, CallbackCall, LibraryCall, Loop, Branch>;

struct Step {
  Work work;
  Op source;  // the operation that errors and profiles name
};

const char* name_of(const Step& step);  // for errors and profiles

struct Plan {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<int32_t> arguments;     // slot of each argument
  std::vector<int32_t> outputs;       // slot of each output; may repeat, may be an argument's slot
  std::vector<int64_t> output_bytes;  // of each Output slot: what a run allocates
  // Arguments that are replaced, and the places among `outputs` of their new values. If there are
  // any, no other argument is donated, and each of them only to this output: while a run writes
  // there, other threads may wait for the new value of a variable.
  std::vector<std::pair<uint32_t, uint32_t>> replaced;
  int32_t scalars = 0;
  int64_t arena_bytes = 0;
  // Donation: for each Output slot the argument whose memory it may take, -1 for none; empty: none
  // at all. A run does so if the value is not needed after it. Such an argument is donated once and
  // is not an output; its last read is not after the first write to the output, as if both were one
  // slot. (If that write copies all of the argument, the run has nothing to do.)
  std::vector<int32_t> donated_arguments;
  // The first step that writes donated memory. From there on no step may fail after it has begun to
  // write, and a run is not interrupted.
  int32_t point_of_no_return = INT32_MAX;
};

// The tile group of a step: the step itself, or the epilogue of a product. Null if it has none.
inline const TileGroup* group_of(const Step& step) {
  if (const auto* group = std::get_if<TileGroup>(&step.work)) return group;
  const auto* gemm = std::get_if<Gemm>(&step.work);
  const auto* convolution = std::get_if<Convolution>(&step.work);
  if (gemm && gemm->epilogue) return &*gemm->epilogue;
  return convolution && convolution->epilogue ? &*convolution->epilogue : nullptr;
}
inline TileGroup* group_of(Step& step) {
  return const_cast<TileGroup*>(group_of(std::as_const(step)));
}

// True if the steps of other plans do its work.
inline bool has_plans(const Step& step) {
  return std::holds_alternative<Loop>(step.work) || std::holds_alternative<Branch>(step.work);
}

// Bytes of a plan and everything it owns.
int64_t bytes_of(const Plan& plan);
int64_t bytes_of(const TileGroup& group);
template <class T>
int64_t bytes_of(const std::vector<T>& items) {
  return static_cast<int64_t>(items.capacity() * sizeof(T));
}

// A text listing, one line per step.
std::string dump(const Plan& plan);

// True if it can fail at run time.
bool can_fail(const Instruction& instruction);
bool can_fail(const Step& step);

}  // namespace pullback
