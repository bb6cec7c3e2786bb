// Creation and random numbers. Constant arrays are broadcast scalars: they take no memory and no
// step. A random node's seed and counter are scalar inputs, so a new draw is no new plan, and a
// value computed twice is the same value.

#include "base/error.h"
#include "graph/make.h"
#include "graph/rule.h"
#include "graph/variable.h"
#include "ops/batch.h"
#include "ops/complex.h"
#include "ops/expr.h"
#include "ops/random_state.h"

namespace pullback {
namespace {

int64_t present_seed = 0;
int64_t random_counter = 0;

NodeRef int_scalar(int64_t value, uint8_t flags = 0) {
  Scalar s;
  s.i = value;
  return make_scalar(DType::Int64, s, flags);
}

NodeRef draw(NodeFlag which) {
  // Inside a trace the draw belongs to the call, not to the recording: tracing draws nothing.
  if (variable_scope_active()) {
    const NodeRef stand_in = int_scalar(0, which | kTraced);
    stand_in->origin = variable_scope_origin();
    return stand_in;
  }
  return int_scalar(which == kSeed ? present_seed : random_counter++, which);
}

NodeRef random_node(Op op, const Shape& shape, DType dtype) {
  const NodeRef seed = draw(kSeed);
  const NodeRef counter = draw(kCounter);
  Node* inputs[] = {seed.get(), counter.get()};
  NodeRef node = make_node(op, dtype, shape, inputs);
  if (BatchScope::active()) node->flags |= kTraced;
  return node;
}

NodeRef random_float(Op op, const Shape& shape, DType dtype) {
  if (!is_float(dtype)) {
    fail(ErrorKind::Type, name_of(op), ": expected a floating dtype, got ", dtype);
  }
  if (is_storage(dtype)) {
    Expr drawn = random_float(op, shape, widened(dtype));
    if (op == Op::random_uniform) {  // cut off, as 1 must not be drawn
      const double units = dtype == DType::Float16 ? 0x1p11 : 0x1p8;
      drawn = formula::floor(drawn * units) / units;
    }
    return cast(drawn, dtype);
  }
  return random_node(op, shape, dtype);
}

}  // namespace

NodeRef full(const Shape& shape, const NodeRef& value) {
  return broadcast_to(value, shape, "full");
}

NodeRef zeros(const Shape& shape, DType dtype) { return full(shape, scalar(dtype, 0)); }
NodeRef ones(const Shape& shape, DType dtype) { return full(shape, scalar(dtype, 1)); }

NodeRef iota(int64_t length) { return make_node(Op::iota, DType::Int64, {length}, {}); }

NodeRef arange(const NodeRef& start, int64_t length, const NodeRef& step, DType dtype) {
  check_shape({length}, "arange");
  if (is_storage(dtype)) return cast(arange(start, length, step, widened(dtype)), dtype);
  return cast(start, dtype) + Expr(cast(iota(length), dtype)) * cast(step, dtype);
}

NodeRef eye(int64_t rows, int64_t columns, int64_t diagonal, DType dtype) {
  check_shape({rows, columns}, "eye");
  const Expr row = expand_dims(iota(rows), {1});
  return cast(row + Expr(int_scalar(diagonal)) == Expr(iota(columns)), dtype);
}

void seed_random(uint64_t seed) {
  if (variable_scope_active()) {
    fail(ErrorKind::Runtime,
         "seed: not while a function is traced, since its calls would not repeat it; seed before "
         "the call");
  }
  present_seed = static_cast<int64_t>(seed);
  random_counter = 0;
}

RandomState exchange_random_state(RandomState next) {
  const RandomState before{static_cast<uint64_t>(present_seed), random_counter};
  present_seed = static_cast<int64_t>(next.seed);
  random_counter = next.counter;
  return before;
}

NodeRef draw_like(const Node* node) { return draw(node->flags & kSeed ? kSeed : kCounter); }

NodeRef random_uniform(const Shape& shape, DType dtype) {
  return random_float(Op::random_uniform, shape, dtype);
}

NodeRef random_normal(const Shape& shape, DType dtype) {
  return random_float(Op::random_normal, shape, dtype);
}

NodeRef permutation(int64_t length) { return random_node(Op::permutation, {length}, DType::Int64); }

// In a trace it is a step of every call, whatever it is made from.
NodeRef host_call(std::span<const NodeRef> inputs, DType dtype, const Shape& shape,
                  const Ref<HostFunction>& function) {
  for (const NodeRef& input : inputs) refuse_complex(input.get(), "host_call");
  Scalar which;
  which.i = reinterpret_cast<intptr_t>(static_cast<HostCallable*>(function.get()));
  const NodeRef scalar = make_scalar(DType::Int64, which);
  scalar->origin = function.get();
  std::vector<Node*> all = {scalar.get()};
  for (const NodeRef& input : inputs) all.push_back(input.get());
  NodeRef node = make_node(Op::numpy_function, dtype, shape, all);
  if (variable_scope_active()) node->flags |= kTraced;
  return node;
}

}  // namespace pullback
