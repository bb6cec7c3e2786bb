// The kinds of steps besides tile groups, and Work, the variant of all kinds.
//
// Each kind describes itself once, with the members that DescribedStep lists. Bounds, aliasing,
// liveness, failures, listings, costs and memory of all kinds are derived from these, so that a new
// kind needs nothing else in cpp/plan. An epilogue and the plans of bodies count by themselves.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "graph/input_source.h"
#include "graph/op.h"
#include "graph/routine.h"
#include "graph/windowing.h"
#include "plan/operand.h"
#include "plan/tile_group.h"

namespace pullback {

template <class Kind>
concept DescribedStep = requires(const Kind& step, const Require& require) {
  // Its name in profiles and counts.
  { Kind::kKind } -> std::convertible_to<const char*>;
  // A tuple of Operands, reads before writes. An operand is a View, a RunScalar or a BodyPlan, or
  // an optional, a vector or a variant of these.
  step.operands();
  // True if it can fail at run time; lack of memory is a failure.
  { step.can_fail() } -> std::same_as<bool>;
  // One for each operation on an element, 2mnk for a product; 0 if it only moves data.
  { step.operations() } -> std::same_as<int64_t>;
  // Requires that its shapes fit together.
  step.check(require);
};
// A kind may also have title(), the beginning of its line in a listing if that is neither the name
// of its `op` nor kKind, and bytes() of lists that are not operands.

// c[batch…, m, n] = a[batch…, m, k] · b[batch…, k, n]; batch axes of a and b may have stride 0. The
// last two strides of a and b are free: a backend turns them into transpose flags.
struct Gemm {
  View a, b, c;
  std::optional<TileGroup> epilogue;  // runs on c, a flat load of it, while c is in the cache

  static constexpr const char* kKind = "gemm";
  auto operands() const { return std::tuple(strided(a), strided(b), written(c)); }
  bool can_fail() const { return false; }
  int64_t operations() const { return 2 * c.shape.size() * a.shape[a.shape.rank - 1]; }
  void check(const Require& require) const;
};

// y[n, o…, g, b] = the sum over taps k and channels a of x[n, i…, g, a] w[k…, g, a, b], where i
// follows from o and k (graph/windowing.h; size is that of w).
struct Convolution {
  View x, w, y;
  Windowing windows;
  std::optional<TileGroup> epilogue;  // as in Gemm, on y

  static constexpr const char* kKind = "convolution";
  auto operands() const { return std::tuple(strided(x), strided(w), written(y)); }
  bool can_fail() const { return true; }  // its tiles need memory
  int64_t operations() const;
  std::string title() const;
  void check(const Require& require) const;
};

// max_pool … max_pool_choose (ops/convolve.h) of x = [n, three axes, c]; `g` of the last two.
struct Pool {
  Op op;
  View in, out;
  std::optional<View> g;
  Windowing windows;

  static constexpr const char* kKind = "pool";
  auto operands() const { return std::tuple(dense(in), dense(g), written(out)); }
  bool can_fail() const { return true; }
  int64_t operations() const;
  std::string title() const;
  void check(const Require& require) const;
};

// Copies `in` to `out` element by element (same shape), or adds it to `out`. With `clear`, the
// whole slot of `out` is zeroed first.
struct Layout {
  View in, out;
  bool clear = false;
  bool add = false;

  static constexpr const char* kKind = "layout";
  auto operands() const {
    return std::tuple(strided(in),
                      Operand{out, Use{.read = add && !clear, .write = true, .strided = true}});
  }
  bool can_fail() const { return false; }
  int64_t operations() const { return 0; }
  std::string title() const { return add ? "add" : clear ? "embed" : "copy"; }
  void check(const Require& require) const {
    require(in.shape == out.shape, "a copy to another shape");
  }
  // True if nothing remains to be done where a donated argument is both in and out.
  bool copies_whole_slots() const;
};

// out[o, i, n] = in[o, indices[i], n] with in = [outer, axis, inner]. Negative indices count from
// the end. `checked`: an earlier step has found all indices inside.
struct Gather {
  View in, indices, out;
  int64_t outer, axis, inner;
  bool checked = false;

  static constexpr const char* kKind = "gather";
  auto operands() const { return std::tuple(indexed(in), dense(indices), written(out)); }
  bool can_fail() const { return !checked; }
  int64_t operations() const { return 0; }
  void check(const Require& require) const;
};

// out[o, indices[i], n] gets in[o, i, n], in index order, with in = [outer, n, inner] and out =
// [outer, axis, inner]. With `clear`, out is zeroed first; otherwise it holds the base already.
// With `equal`, out[o, k, n] gets it, where k is the last place in the list with the same index,
// whatever that is: axis is the length of the list.
struct ScatterAdd {
  View in, indices, out;
  int64_t outer, axis, inner;
  Update update = Update::Add;
  bool clear = true;
  bool equal = false;
  bool checked = false;  // as in Gather

  static constexpr const char* kKind = "scatter_add";
  auto operands() const {
    return std::tuple(strided(in), dense(indices),
                      Operand{out, Use{.read = !clear, .write = true}});
  }
  bool can_fail() const { return !checked && !equal; }
  int64_t operations() const { return in.shape.size(); }
  std::string title() const;
  void check(const Require& require) const;
};

// The position of the largest or smallest entry along the middle axis of [outer, reduced, inner];
// the first of equals; a NaN wins. out is int64.
struct ArgReduce {
  Op op;  // argmax, argmin
  View in, out;
  int64_t outer, reduced, inner;

  static constexpr const char* kKind = "argmax";
  auto operands() const { return std::tuple(dense(in), written(out)); }
  bool can_fail() const { return true; }
  int64_t operations() const { return in.shape.size(); }
  void check(const Require& require) const;
};

// cumulative_sum … linear_recurrence along the middle axis of [outer, length, inner]; `factors` of
// linear_recurrence alone.
struct Scan {
  Op op;
  View in, out;
  std::optional<View> factors;
  bool reversed = false;
  int64_t outer, length, inner;

  static constexpr const char* kKind = "scan";
  auto operands() const { return std::tuple(strided(in), strided(factors), written(out)); }
  bool can_fail() const { return true; }
  int64_t operations() const { return in.shape.size(); }
  std::string title() const;
  void check(const Require& require) const;
};

// The entries along the middle axis of [outer, length, inner] in order, or the positions (int64) of
// these: stable, NaN last.
struct Sort {
  Op op;  // sort, argsort
  View in, out;
  bool descending = false;
  int64_t outer, length, inner;

  static constexpr const char* kKind = "sort";
  auto operands() const { return std::tuple(strided(in), written(out)); }
  bool can_fail() const { return true; }
  int64_t operations() const { return in.shape.size(); }
  std::string title() const;
  void check(const Require& require) const;
};

// For each entry of `in`, the number of entries of `sorted` (rank 1) that are less; `right`: not
// greater. out is int64.
struct Search {
  View sorted, in, out;
  bool right = false;

  static constexpr const char* kKind = "search";
  auto operands() const { return std::tuple(dense(sorted), dense(in), written(out)); }
  bool can_fail() const { return false; }
  int64_t operations() const { return in.shape.size(); }
  std::string title() const { return right ? "search right" : kKind; }
  void check(const Require& require) const;
};

// Element i from a counter-based generator at (seed, counter, i) and its parameters: an operation
// of ops/random.cpp. A parameter is row-major, or one number for all (strides of 0).
struct Random {
  Op op;
  RunScalar seed, counter;
  View out;
  std::vector<View> in;

  static constexpr const char* kKind = "random";
  auto operands() const {
    return std::tuple(dense(seed), dense(counter), strided(in), written(out));
  }
  bool can_fail() const { return false; }
  int64_t operations() const { return out.shape.size(); }
  void check(const Require& require) const;
};

// 0, 1, 2, … along the only axis of out.
struct Iota {
  View out;

  static constexpr const char* kKind = "iota";
  auto operands() const { return std::tuple(written(out)); }
  bool can_fail() const { return false; }
  int64_t operations() const { return 0; }
  void check(const Require& require) const {
    require(out.shape.rank == 1, "a range of several axes");
  }
};

// out = a callback applied to `in`; a scalar of the run identifies the Callback (base/callback.h).
struct CallbackCall {
  RunScalar function;
  std::vector<View> in;
  View out;

  static constexpr const char* kKind = "callback";
  auto operands() const { return std::tuple(dense(function), dense(in), written(out)); }
  bool can_fail() const { return true; }
  int64_t operations() const { return 0; }
  void check(const Require&) const {}
};

// A routine of linear algebra, Fourier transform or attention. Complex matrices are stored as
// pairs.
struct LibraryCall {
  RoutineForm form;
  int64_t batch;
  std::vector<View> in;
  std::vector<std::optional<View>> out;  // without those that no step reads

  static constexpr const char* kKind = "library";
  auto operands() const { return std::tuple(dense(in), written(out)); }
  bool can_fail() const { return true; }
  int64_t operations() const;
  std::string title() const { return name_of(form.routine); }
  void check(const Require&) const {}
};

// --- loops and branches: steps that run plans of their own

struct CachedPlan;  // plan/backend.h

// The plan of a body (graph/operation.h), and the step's inputs for its arguments.
struct BodyPlan {
  // An input that is a scalar of the run: a seed, a counter or a callback.
  struct ScalarInput {
    int32_t input;
    bool seed = false;  // each iteration has its own: see seed_of_iteration
  };
  std::shared_ptr<const CachedPlan> plan;
  std::vector<InputSource> arguments;                      // for each argument of the plan
  std::vector<std::variant<Scalar, ScalarInput>> numbers;  // for each scalar of the plan
  // For each root that is wanted: its number among the plan's outputs.
  std::vector<std::optional<int32_t>> results;
};

using BodyInput = std::variant<View, RunScalar>;

// A loop as in graph/operation.h. No slot is both read and written.
struct Loop {
  BodyPlan body;
  std::optional<BodyPlan> condition;
  std::vector<BodyInput> in;
  // Final carry, stacked outputs, count, residuals; without those that no step reads.
  std::vector<std::optional<View>> out;
  std::vector<int64_t> carry_bytes;         // for each carry: its bytes
  int32_t stacked_in = 0, stacked_out = 0;  // number of scanned inputs and of stacked outputs
  std::optional<int64_t> trips;             // iterations, unless `counted` or a condition decides
  bool counted = false;                     // the last of `in` is the number of iterations
  bool reversed = false;                    // iteration 0 reads the last entries

  // A reverse that first replays another loop for its residuals has that loop's body here.
  std::optional<BodyPlan> replayed;
  std::vector<int32_t> replayed_from;   // for each replayed carry: the input that it starts with
  std::vector<int64_t> replayed_bytes;  // for each replayed carry: its bytes
  std::vector<int32_t> residuals;       // for each scanned residual: the replayed carry
  int64_t memory = 0;                   // bytes that residuals may take; 0: no limit

  int32_t carries() const { return static_cast<int32_t>(carry_bytes.size()); }

  static constexpr const char* kKind = "loop";
  auto operands() const {
    return std::tuple(dense(in), dense(condition), dense(replayed), dense(body), written(out));
  }
  bool can_fail() const { return replayed.has_value(); }  // a replay needs memory
  int64_t operations() const { return 0; }
  std::string title() const;
  void check(const Require& require) const;
  int64_t bytes() const;  // of its lists without the operands
};

// The first of `in` is the index of the choice that runs.
struct Branch {
  std::vector<BodyPlan> choices;
  std::vector<BodyInput> in;
  std::vector<std::optional<View>> out;  // as in Loop

  static constexpr const char* kKind = "branch";
  auto operands() const { return std::tuple(dense(in), dense(choices), written(out)); }
  bool can_fail() const { return false; }
  int64_t operations() const { return 0; }
  void check(const Require& require) const;
};

using Work =
    std::variant<TileGroup, Gemm, Convolution, Pool, Layout, Gather, ScatterAdd, ArgReduce, Random,
                 Iota, Scan, Sort, Search, CallbackCall, LibraryCall, Loop, Branch>;

template <DescribedStep... Kinds>
constexpr std::array<const char*, sizeof...(Kinds)> kinds_of(const std::variant<Kinds...>*) {
  return {Kinds::kKind...};
}
// Names of the kinds of Work, in its order.
constexpr auto kWorkNames = kinds_of(static_cast<const Work*>(nullptr));

}  // namespace pullback
