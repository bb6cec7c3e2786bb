// Indexing by a tensor of positions along one axis. Positions that have a value are checked here,
// the others when the plan runs (IndexError).

#include "ops/index.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/index_bounds.h"
#include "graph/make.h"
#include "graph/runtime.h"
#include "ops/complex.h"
#include "ops/expr.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

void check_indices(const NodeRef& indices, const char* who) {
  if (!is_integer(indices->dtype)) {
    fail(ErrorKind::Type, who, ": expected integers for indices, got ", indices->dtype);
  }
}

// Steps read int32 and int64 positions; other integers are converted.
NodeRef positions(const NodeRef& indices) {
  const bool known = indices->dtype == DType::Int32 || indices->dtype == DType::Int64;
  return known ? indices : cast(indices, DType::Int64);
}

}  // namespace

std::optional<int64_t> known_outside(const NodeRef& indices, int64_t low, int64_t high) {
  if (!indices->has_value() || !is_integer(indices->dtype)) return std::nullopt;
  const int64_t n = indices->shape.size();
  const auto find = [&]<class I>(const I* at) -> std::optional<int64_t> {
    if (!any_outside(at, n, low, high)) return std::nullopt;
    return first_outside(at, n, low, high);
  };
  const Ref<Buffer> known = read_back(indices.get());
  const void* data = known->host();
  if (indices->dtype == DType::Int64) return find(static_cast<const int64_t*>(data));
  if (indices->dtype == DType::Int32) return find(static_cast<const int32_t*>(data));
  std::vector<int64_t> wide(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto* at = static_cast<const char*>(data) + i * size_of(indices->dtype);
    wide[i] = load_scalar(indices->dtype, at).i;
  }
  return find(wide.data());
}

void check_positions(const NodeRef& indices, int64_t axis, int64_t length, const char* who) {
  if (const auto bad = known_outside(indices, -length, length)) {
    fail(ErrorKind::Index, who, ": index ", *bad, " is out of range for axis ", axis, " of size ",
         length);
  }
}

NodeRef take(const NodeRef& x, const NodeRef& indices, int64_t requested) {
  check_indices(indices, "take");
  const int64_t axis = normal_axis(requested, x->shape.rank, "take");
  Shape shape;
  for (int64_t i = 0; i < axis; ++i) shape.append(x->shape[i]);
  for (int64_t i = 0; i < indices->shape.rank; ++i) shape.append(indices->shape[i]);
  for (int64_t i = axis + 1; i < x->shape.rank; ++i) shape.append(x->shape[i]);
  Attr attr;
  attr.axis = static_cast<int8_t>(axis);
  const NodeRef at = positions(indices);
  Node* inputs[] = {x.get(), at.get()};
  return make_node(Op::take, x->dtype, shape, inputs, attr);
}

NodeRef scatter_add(const NodeRef& x, const NodeRef& indices, int64_t axis, int64_t length) {
  check_indices(indices, "scatter_add");
  if (is_storage(x->dtype)) {
    return cast(scatter_add(cast(x, widened(x->dtype)), indices, axis, length), x->dtype);
  }
  Shape shape;
  for (int64_t i = 0; i < axis; ++i) shape.append(x->shape[i]);
  shape.append(length);
  for (int64_t i = axis + indices->shape.rank; i < x->shape.rank; ++i) shape.append(x->shape[i]);
  Attr attr;
  attr.axis = static_cast<int8_t>(axis);
  const NodeRef at = positions(indices);
  Node* inputs[] = {x.get(), at.get()};
  return make_node(Op::scatter_add, x->dtype, shape, inputs, attr);
}

NodeRef sum_duplicates(const NodeRef& x, const NodeRef& indices) {
  check_indices(indices, "sum_duplicates");
  if (!is_inexact(x->dtype)) {
    fail(ErrorKind::Type, "sum_duplicates: expected floats, got ", x->dtype);
  }
  if (indices->shape.rank != 1 || x->shape.rank == 0 || x->shape[0] != indices->shape[0]) {
    fail(ErrorKind::Value, "sum_duplicates: expected one index for each row of x ", x->shape,
         ", got indices of shape ", indices->shape);
  }
  if (is_storage(x->dtype)) {
    return cast(sum_duplicates(cast(x, widened(x->dtype)), indices), x->dtype);
  }
  const NodeRef at = positions(indices);
  Node* inputs[] = {x.get(), at.get()};
  return make_node(Op::sum_duplicates, x->dtype, x->shape, inputs);
}

NodeRef at_index(const NodeRef& base, const NodeRef& value, const NodeRef& indices, int64_t axis,
                 Update update, bool unique) {
  check_indices(indices, "at_index");
  if (is_complex(base->dtype) && update == Update::Multiply && unique) {
    const Expr product = Expr(take(base, indices, axis)) * Expr(value);
    return at_index(base, product, indices, axis, Update::Set, true);
  }
  if (is_complex(base->dtype) && update == Update::Multiply) {
    fail(ErrorKind::Type,
         "at[].multiply: expected distinct indices for complex numbers, got indices that may "
         "repeat; use a slice, a mask or a NumPy array of indices");
  }
  if (update == Update::Min || update == Update::Max) refuse_complex(base.get(), "at[].min, max");
  if (is_storage(base->dtype) && update != Update::Set) {
    const DType wide = widened(base->dtype);
    return cast(at_index(cast(base, wide), cast(value, wide), indices, axis, update, unique),
                base->dtype);
  }
  Attr attr;
  attr.axis = static_cast<int8_t>(axis);
  attr.update = update;
  attr.unique = unique;
  const NodeRef at = positions(indices);
  Node* inputs[] = {base.get(), value.get(), at.get()};
  return make_node(Op::at_index, base->dtype, base->shape, inputs, attr);
}

NodeRef pick(const NodeRef& x, const NodeRef& indices) {
  check_indices(indices, "pick");
  Shape rows = x->shape;
  if (rows.rank > 0) rows.resize(rows.rank - 1);
  if (x->shape.rank == 0 || !(indices->shape == rows)) {
    fail(ErrorKind::Value, "pick: expected one index for each row of x ", x->shape,
         ", got indices of shape ", indices->shape);
  }
  const NodeRef at = cast(indices, DType::Int64);
  Node* inputs[] = {x.get(), at.get()};
  return make_node(Op::pick, x->dtype, rows, inputs);
}

NodeRef place(const NodeRef& x, const NodeRef& indices, int64_t length) {
  check_indices(indices, "place");
  if (!(indices->shape == x->shape)) {
    fail(ErrorKind::Value, "place: expected one index for each entry of x ", x->shape,
         ", got indices of shape ", indices->shape);
  }
  Shape shape = x->shape;
  shape.append(length);
  const NodeRef at = cast(indices, DType::Int64);
  Node* inputs[] = {x.get(), at.get()};
  return make_node(Op::place, x->dtype, shape, inputs);
}

void take_vjp(const VjpCall& call, Cotangent* out) {
  const int64_t axis = call.node->attr.axis;
  const Node* x = call.node->in[0];
  const NodeRef indices = call.node->in[1];
  const int64_t length = x->shape[axis];
  // Entries that were never taken are a structural zero; see slice_vjp.
  NodeRef mask;
  if (call.live[0] == kWantedMasked) {
    Shape taken = call.g->shape;
    for (int64_t d = 0; d < taken.rank; ++d) {
      if (d < axis || d >= axis + indices->shape.rank) taken[d] = 1;
    }
    mask = scatter_add(ones(taken, DType::Bool), indices, axis, length);
  }
  out[0] = {Cotangent::Value, scatter_add(call.g, indices, axis, length), mask, true};
}

void scatter_add_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, take(call.g, call.node->in[1], call.node->attr.axis), nullptr};
}

namespace {

// One bool per entry of `value`: true if it is the last one with its position, so that it remains.
NodeRef last_of_position(const Node* value, const NodeRef& indices, int64_t axis, int64_t length) {
  const NodeRef number = reshape(iota(indices->shape.size()), indices->shape);
  const NodeRef last =
      at_index(zeros({length}, DType::Int64), number, indices, 0, Update::Set, false);
  Shape lifted;
  for (int64_t i = 0; i < indices->shape.rank; ++i) lifted.append(indices->shape[i]);
  while (lifted.rank + axis < value->shape.rank) lifted.append(1);
  const Expr stays = Expr(take(last, indices, 0)) == Expr(number);
  return broadcast_to(reshape(stays, lifted), value->shape);
}

void set_vjp(const VjpCall& call, Cotangent* out) {
  const Node* base = call.node->in[0];
  const Node* value = call.node->in[1];
  const NodeRef indices = call.node->in[2];
  const int64_t axis = call.node->attr.axis;
  const bool unique = call.node->attr.unique;
  if (call.live[0]) {
    // Overwritten entries are a structural zero; see slice_vjp.
    NodeRef mask;
    if (call.live[0] == kWantedMasked) {
      mask = at_index(ones(base->shape, DType::Bool), zeros(value->shape, DType::Bool), indices,
                      axis, Update::Set, unique);
    }
    out[0] = {
        Cotangent::Value,
        at_index(call.g, zeros(value->shape, call.g->dtype), indices, axis, Update::Set, unique),
        mask, true};
  }
  if (call.live[1]) {
    const NodeRef mask =
        unique ? nullptr : last_of_position(value, indices, axis, base->shape[axis]);
    out[1] = {Cotangent::Value, take(call.g, indices, axis), mask};
  }
}

// The values of indices in 0 … length-1; evaluates them if necessary.
std::vector<int64_t> known_positions(const NodeRef& indices, int64_t length) {
  if (!indices->has_value() && !(indices->flags & kTraced)) runtime.evaluate(indices.get());
  if (!indices->has_value()) {
    fail(ErrorKind::NotImplemented,
         "at[].multiply: the gradient by the value requires known indices, to find repeated ones, "
         "got traced indices; pass the indices as a NumPy array");
  }
  const Ref<Buffer> known = read_back(indices.get());
  std::vector<int64_t> out(indices->shape.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t index = indices->dtype == DType::Int32
                              ? static_cast<const int32_t*>(known->host())[i]
                              : static_cast<const int64_t*>(known->host())[i];
    out[i] = index < 0 ? index + length : index;
  }
  return out;
}

template <class T>
NodeRef value_of(DType dtype, const Shape& shape, const std::vector<T>& entries) {
  NodeRef node = make_value(dtype, shape, make_buffer(shape.size() * size_of(dtype)));
  std::copy(entries.begin(), entries.end(), static_cast<T*>(node->value->host()));
  return node;
}

// For each entry of `value`, the product of all others at the same position; null if each is alone.
// Sorted by position these are neighbours. The product of the neighbours before (after) an entry is
// built by doubling: log n multiplications and no division.
NodeRef product_of_others(const Node* value, const NodeRef& indices, int64_t axis, int64_t length) {
  const std::vector<int64_t> positions = known_positions(indices, length);
  const auto n = static_cast<int64_t>(positions.size());
  std::vector<int64_t> order(n), back(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t k) { return positions[i] < positions[k]; });
  for (int64_t i = 0; i < n; ++i) back[order[i]] = i;
  const auto equal = [&](int64_t i, int64_t k) {
    return i >= 0 && i < n && positions[order[i]] == positions[order[k]];
  };
  int64_t most = 0;
  for (int64_t i = 0, run = 0; i < n; ++i) {
    run = equal(i - 1, i) ? run + 1 : 1;
    most = std::max(most, run);
  }
  if (most < 2) return nullptr;

  Shape listed, lifted{n};  // the axes of the indices as one, and a mask along it
  for (int64_t d = 0; d < axis; ++d) listed.append(value->shape[d]);
  listed.append(n);
  for (int64_t d = axis + indices->shape.rank; d < value->shape.rank; ++d) {
    listed.append(value->shape[d]);
    lifted.append(1);
  }
  // The entry `distance` before each entry; 1 if that has another position.
  const auto neighbour = [&](const Expr& x, int64_t distance) {
    const int64_t far = std::abs(distance);
    Shape rest = listed;
    rest[axis] = n - far;
    StridedSlice from(listed.rank), to(listed.rank);
    from.start[axis] = distance < 0 ? far : 0;
    to.start[axis] = distance < 0 ? 0 : far;
    std::vector<uint8_t> same(n);
    for (int64_t i = 0; i < n; ++i) same[i] = equal(i - distance, i);
    return formula::where(value_of(DType::Bool, lifted, same),
                          embed(slice(x, rest, from), listed, to), scalar(value->dtype, 1));
  };
  const auto product = [&](const Expr& x, int64_t direction) {
    Expr out = neighbour(x, direction);
    for (int64_t d = 1; d < most - 1; d *= 2) out = out * neighbour(out, d * direction);
    return out;
  };
  const Expr sorted = take(reshape(NodeRef(const_cast<Node*>(value)), listed),
                           value_of(DType::Int64, {n}, order), axis);
  const Expr others = product(sorted, 1) * product(sorted, -1);
  return reshape(take(others, value_of(DType::Int64, {n}, back), axis), value->shape);
}

void multiply_vjp(const VjpCall& call, Cotangent* out) {
  const NodeRef base = call.node->in[0];
  const NodeRef value = call.node->in[1];
  const NodeRef indices = call.node->in[2];
  const Attr& attr = call.node->attr;
  if (call.live[0]) {
    const Expr factors = at_index(ones(base->shape, base->dtype), value, indices, attr.axis,
                                  Update::Multiply, attr.unique);
    out[0] = {Cotangent::Value, Expr(call.g) * factors, nullptr};
  }
  if (call.live[1]) {
    Expr slope = Expr(take(call.g, indices, attr.axis)) * Expr(take(base, indices, attr.axis));
    if (!attr.unique && value->shape.size()) {
      const NodeRef others =
          product_of_others(value.get(), indices, attr.axis, base->shape[attr.axis]);
      if (others) slope = slope * Expr(others);
    }
    out[1] = {Cotangent::Value, slope, nullptr};
  }
}

// All entries equal to the extreme share the gradient equally, as in max and min.
void extreme_vjp(const VjpCall& call, Cotangent* out) {
  if (!is_float(call.node->dtype)) return;
  const NodeRef base = call.node->in[0];
  const NodeRef value = call.node->in[1];
  const NodeRef indices = call.node->in[2];
  const Attr& attr = call.node->attr;
  const auto taken = [&](const NodeRef& x) { return take(x, indices, attr.axis); };
  const bool agree = agrees(call.node, base.get()) && agrees(call.node, value.get());
  const NodeRef y = agree ? NodeRef(call.node)
                          : at_index(base, value, indices, attr.axis, attr.update, attr.unique);
  const Expr base_wins = formula::same(base, Expr(y));
  const Expr value_wins = formula::same(value, Expr(taken(y)));
  const Expr count = at_index(cast(base_wins, base->dtype), cast(value_wins, base->dtype), indices,
                              attr.axis, Update::Add, attr.unique);
  const Expr share = Expr(call.g) / count;
  out[0] = formula::mask(base_wins, share);
  out[1] = formula::mask(value_wins, Expr(taken(share)));
}

}  // namespace

void at_index_vjp(const VjpCall& call, Cotangent* out) {
  switch (call.node->attr.update) {
    case Update::Set:
      return set_vjp(call, out);
    case Update::Add:
      out[0] = {Cotangent::Value, call.g, nullptr};
      if (call.live[1]) {
        out[1] = {Cotangent::Value, take(call.g, call.node->in[2], call.node->attr.axis), nullptr};
      }
      return;
    case Update::Multiply:
      return multiply_vjp(call, out);
    case Update::Min:
    case Update::Max:
      return extreme_vjp(call, out);
  }
}

// Entries that were not picked are a structural zero; see slice_vjp.
void pick_vjp(const VjpCall& call, Cotangent* out) {
  const Node* x = call.node->in[0];
  const NodeRef indices = call.node->in[1];
  const int64_t length = x->shape[x->shape.rank - 1];
  NodeRef mask;
  if (call.live[0] == kWantedMasked)
    mask = place(ones(call.g->shape, DType::Bool), indices, length);
  out[0] = {Cotangent::Value, place(call.g, indices, length), mask, true};
}

void place_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, pick(call.g, call.node->in[1]), nullptr};
}

}  // namespace pullback
