// Builders of constants, iota and calls of callbacks. A constant array is a broadcast scalar: it
// needs no memory and no step.

#include "base/error.h"
#include "graph/make.h"
#include "graph/rule.h"
#include "graph/variable.h"
#include "ops/complex.h"
#include "ops/expr.h"

namespace pullback {
namespace {

NodeRef int_scalar(int64_t value, uint8_t flags = 0) {
  Scalar s;
  s.i = value;
  return make_scalar(DType::Int64, s, flags);
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

// In a trace every call runs it, whatever its inputs are.
NodeRef callback(std::span<const NodeRef> inputs, DType dtype, const Shape& shape,
                 const Ref<CallbackOrigin>& function) {
  for (const NodeRef& input : inputs) refuse_complex(input.get(), "callback");
  Scalar which;
  which.i = reinterpret_cast<intptr_t>(static_cast<Callback*>(function.get()));
  const NodeRef scalar = make_scalar(DType::Int64, which);
  scalar->origin = function.get();
  std::vector<NodeRef> all{scalar};
  all.insert(all.end(), inputs.begin(), inputs.end());
  NodeRef node = make_node(Op::numpy_function, dtype, shape, pointers(all));
  if (variable_scope_active()) node->flags |= kTraced;
  return node;
}

}  // namespace pullback
