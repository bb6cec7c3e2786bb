// The name of every operation, as an enum. Elementwise ones come from elementwise.def; what each of
// the others does is in its row of opdef.cpp.
#pragma once

#include <cstdint>

namespace pullback {

enum class Op : uint16_t {
#define UNARY(name, ...) name,
#define BINARY(name, ...) name,
#define TERNARY(name, ...) name,
#include "ops/elementwise.def"
  cast,
  // leaves
  value,     // holds a buffer
  scalar,    // one number, an argument of the plan and never part of its structure
  argument,  // stands for an input while a function is traced; never has a value
  // views: never a step of their own
  identity,
  stop_gradient,
  read,    // a variable's value at one moment
  custom,  // in[0] is the value, the other inputs are what its rule answers for
  reshape,
  transpose,
  broadcast_to,
  slice,
  // reductions over one contiguous block of axes
  sum,
  max,
  min,
  all,
  any,
  argmax,
  argmin,
  // the rest: one kind of step each
  matmul,
  concat,
  embed,      // zeros with the input at a slice's place: the adjoint of slice
  at_window,  // in[0] with in[1] set at, or added to, a slice's place
  take,
  scatter_add,  // the adjoint of take
  at_index,     // in[0] with in[1] combined into it at the positions in[2] of one axis
  pick,         // one entry of each row (the last axis)
  place,        // zeros but for one entry of each row: the adjoint of pick
  iota,
  random_uniform,
  random_normal,
  permutation,
  count
};

constexpr int kOps = static_cast<int>(Op::count);

constexpr bool is_elementwise(Op op) { return op <= Op::cast; }
constexpr bool is_leaf(Op op) { return op >= Op::value && op <= Op::argument; }
constexpr bool is_view(Op op) { return op >= Op::identity && op <= Op::slice; }
constexpr bool is_reduction(Op op) { return op >= Op::sum && op <= Op::any; }

// What at_window and at_index make of what they find and what they bring.
enum class Update : uint8_t { Set, Add, Multiply, Min, Max };

const char* name_of(Op op);

}  // namespace pullback
