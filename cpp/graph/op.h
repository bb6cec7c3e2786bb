// Op: every operation as an enum, and its OpTraits as a constexpr table. Both come from the rows of
// elementwise.def and other.def.
//
// Code that treats operations differently reads the traits, or switches over one of their enums
// without a default, so that the compiler lists the places where a new kind of operation is
// missing. Elementwise rows come first, in their order, since kernels are found by it; the order of
// Op has no other meaning.
#pragma once

#include <cstdint>
#include <iterator>

namespace pullback {

enum class Op : uint16_t {
#define UNARY(name, ...) name,
#define BINARY(name, ...) name,
#define TERNARY(name, ...) name,
#include "graph/elementwise.def"
#define OTHER(name, ...) name,
#include "graph/other.def"
  count
};

constexpr int kOps = static_cast<int>(Op::count);

// The way in which the planner computes it.
enum class OpKind : uint8_t {
  Leaf,         // no inputs
  View,         // not computed: a strided view of the first input
  Elementwise,  // an instruction of a tile group, entry by entry; operands broadcast
  Fold,         // a reduction over one contiguous block of axes
  Pick,         // one entry of each row
  Place,        // one entry of each row, zeros elsewhere
  Step,         // a separate step
};
// The kind of a view.
enum class ViewKind : uint8_t { None, Alias, Reshape, Transpose, Broadcast, Slice };
// The kind of a separate step.
enum class StepKind : uint8_t {
  None,
  ArgFold,
  Product,
  Concat,
  Embed,
  AtSlice,
  Indexed,
  Scan,
  Sort,
  Search,
  Convolve,
  Pool,
  Iota,
  Random,
  Callback,
  Control,  // a loop or a branch
  Library,  // a routine
  Output,   // an output of a loop, branch or routine, made by its step
};

// The cost of an entry of the result (for a fold, of its input).
enum class Cost : uint8_t {
  Free,        // nothing is computed
  Arithmetic,  // an instruction or two: cheaper to repeat than to keep
  Division,    // divisions, roots, rounding
  Function,
  Power,
  Copy,  // a step that writes its result once
  Fold,  // worth storing if it folds many entries
  Heavy  // always worth storing
};

// When a run of it can fail.
enum class Fails : uint8_t {
  Never,
  Integers,  // integer arithmetic: a division by zero, a negative power
  Always,    // a position out of range
};

// The path of structural zeros (Cotangent::mask) from its cotangent to those of its inputs.
enum class Mask : uint8_t {
  Stops,    // they are replaced by ordinary zeros before the rule is called
  Entry,    // elementwise: they stay where they are, and there is no slope
  Bounded,  // elementwise: they stay where they are, and meet slopes that are finite for finite
            // operands
  Scales,   // elementwise: they stay where they are, and meet slopes that may be infinite or NaN
  Moves,    // they go where the values go
  Mixes,  // the same, but entries meet in sums: they are replaced by ordinary zeros before the rule
          // is called
};

// The tangent of its result in forward mode.
enum class Tangent : uint8_t {
  Self,  // linear: the operation itself, applied to tangents (positions and conditions unchanged)
  Product,         // linear in each input: the sum of copies with one input replaced by its tangent
  Own,             // by a formula; elementwise rows: the sum of the cotangents, with tangents for g
  TransposeOfVjp,  // only a vjp is known: its transpose, by a second reverse pass
  None,            // tangents do not pass
};

struct OpTraits {
  const char* name;
  OpKind kind;
  ViewKind view;
  StepKind step;
  Cost cost;
  Fails fails;
  Mask mask;
  Tangent tangent;
  bool ring;  // an integer gradient makes sense
  // A result is representable in every dtype in which all operands are.
  bool exact_integers = false;
  bool exact_floats = false;
};

namespace traits_detail {

// Columns of the .def files.
enum class Integers : uint8_t { NoRing, Ring, Fails };
enum class Result : uint8_t { Same, Exact, ExactF, Bool };

// Kind, view and step in one column.
struct Form {
  OpKind kind;
  ViewKind view = ViewKind::None;
  StepKind step = StepKind::None;
};
constexpr Form view(ViewKind kind) { return {OpKind::View, kind}; }
constexpr Form step(StepKind kind) { return {OpKind::Step, ViewKind::None, kind}; }
namespace form {
constexpr Form Leaf{OpKind::Leaf}, Elementwise{OpKind::Elementwise}, Fold{OpKind::Fold},
    Pick{OpKind::Pick}, Place{OpKind::Place};
constexpr Form Alias = view(ViewKind::Alias), Reshape = view(ViewKind::Reshape),
               Transpose = view(ViewKind::Transpose), Broadcast = view(ViewKind::Broadcast),
               Slice = view(ViewKind::Slice);
constexpr Form ArgFold = step(StepKind::ArgFold), Product = step(StepKind::Product),
               Concat = step(StepKind::Concat), Embed = step(StepKind::Embed),
               AtSlice = step(StepKind::AtSlice), Indexed = step(StepKind::Indexed),
               Scan = step(StepKind::Scan), Sort = step(StepKind::Sort),
               Search = step(StepKind::Search), Convolve = step(StepKind::Convolve),
               Pool = step(StepKind::Pool), Iota = step(StepKind::Iota),
               Random = step(StepKind::Random), Callback = step(StepKind::Callback),
               Control = step(StepKind::Control), Library = step(StepKind::Library),
               Output = step(StepKind::Output);
}  // namespace form

constexpr OpTraits elementwise(const char* name, Result result, Integers integers, Cost cost,
                               Mask mask) {
  return {name,
          OpKind::Elementwise,
          ViewKind::None,
          StepKind::None,
          cost,
          integers == Integers::Fails ? Fails::Integers : Fails::Never,
          mask,
          result == Result::Bool || mask == Mask::Stops ? Tangent::None : Tangent::Own,
          integers == Integers::Ring,
          result == Result::Exact,
          result == Result::Exact || result == Result::ExactF};
}

constexpr OpTraits other(const char* name, Form form, Integers integers, Cost cost, Fails fails,
                         Mask mask, Tangent tangent) {
  return {name,      form.kind, form.view,
          form.step, cost,      fails,
          mask,      tangent,   integers == Integers::Ring};
}

constexpr OpTraits kTable[] = {
#define UNARY(name, domain, result, integers, cost, mask, ...) \
  elementwise(#name, Result::result, Integers::integers, Cost::cost, Mask::mask),
#define BINARY UNARY
#define TERNARY UNARY
#include "graph/elementwise.def"
#define OTHER(name, text, kind, ring, cost, fails, mask, tangent, vjp) \
  other(text, form::kind, Integers::ring, Cost::cost, Fails::fails, Mask::mask, Tangent::tangent),
#include "graph/other.def"
};
static_assert(std::size(kTable) == kOps);

}  // namespace traits_detail

constexpr const OpTraits& traits(Op op) { return traits_detail::kTable[static_cast<int>(op)]; }

constexpr bool is_elementwise(Op op) { return traits(op).kind == OpKind::Elementwise; }
constexpr bool is_leaf(Op op) { return traits(op).kind == OpKind::Leaf; }
// No gradient passes these without a user-defined rule. A read starts a new graph.
constexpr bool ends_gradients(Op op) {
  return traits(op).tangent == Tangent::None && !is_leaf(op) && op != Op::read;
}
// Has outputs instead of a value of its own.
constexpr bool is_operation(Op op) {
  const StepKind step = traits(op).step;
  return op == Op::custom_call || step == StepKind::Control || step == StepKind::Library;
}
constexpr bool is_fold(Op op) { return traits(op).kind == OpKind::Fold; }

constexpr const char* name_of(Op op) { return traits(op).name; }

// The composite that a node of Op::custom computes.
enum class Composite : uint16_t {
  None,  // a user's custom_gradient
  mean,
  prod,
  pow,  // to a small integer power, computed as a product or a quotient
  max,  // over axes that are not adjacent: folds of folds, whose ties share as in one fold
  min,
  softmax,
  log_softmax,
  logsumexp,
  softmax_cross_entropy,
  sparse_softmax_cross_entropy,
  solve,
  det,
  logabsdet,
  count
};

// The combination of old and new entries in at_slice and at_index.
enum class Update : uint8_t { Set, Add, Multiply, Min, Max };

}  // namespace pullback
