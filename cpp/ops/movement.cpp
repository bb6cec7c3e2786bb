// Builders and rules of reshape, transpose, broadcast, slice and related operations. All except
// concat, embed and at_slice are views in a plan and need no step.

#include "ops/movement.h"

#include <numeric>

#include "base/counted.h"
#include "base/error.h"
#include "graph/make.h"

namespace pullback {
namespace {

NodeRef unary(Op op, const NodeRef& x, const Shape& shape, const Attr& attr = {},
              const char* who = nullptr) {
  return make_node(op, x->dtype, shape, pointers({&x, 1}), attr, who);
}

NodeRef make_with_slice(Op op, const NodeRef& x, const Shape& shape, const StridedSlice& range) {
  NodeRef node = unary(op, x, shape);
  node->slice = std::make_unique<StridedSlice>(range);
  return node;
}

}  // namespace

NodeRef identity(const NodeRef& x) { return unary(Op::identity, x, x->shape); }
NodeRef stop_gradient(const NodeRef& x) { return unary(Op::stop_gradient, x, x->shape); }

NodeRef transfer(const NodeRef& x, Device device) {
  if (x->device() == device || device == kAnyDevice) return x;
  Attr attr;
  attr.device = device.id;
  return unary(Op::transfer, as_value(x), x->shape, attr);
}

NodeRef reshape(const NodeRef& x, const Shape& requested, const char* who) {
  Shape shape = requested;
  int64_t known = 1;
  int64_t unknown = -1;
  for (int64_t i = 0; i < shape.rank; ++i) {
    if (shape[i] == -1) {
      if (unknown >= 0) {
        fail(ErrorKind::Value, who, ": expected at most one -1 in shape, got ", requested);
      };
      unknown = i;
    } else if (shape[i] < 0) {
      fail(ErrorKind::Value, who, ": expected axis sizes >= 0 for shape, got ", requested);
    } else {
      known = checked_mul(known, shape[i], who);
    }
  }
  const int64_t size = x->shape.size();
  if (unknown >= 0) {
    if (known == 0 || size % known != 0) {
      fail(ErrorKind::Value, who, ": expected a shape for ", counted(size, "element", "elements"),
           " of shape ", x->shape, ", got ", requested);
    }
    shape[unknown] = size / known;
  } else if (known != size) {
    fail(ErrorKind::Value, who, ": expected a shape for ", counted(size, "element", "elements"),
         " of shape ", x->shape, ", got ", shape, " (", counted(known, "element", "elements"), ")");
  }
  if (shape == x->shape) return x;
  return unary(Op::reshape, x, shape, {}, who);
}

std::vector<int64_t> inverse_order(const Node* transpose) {
  std::vector<int64_t> out(static_cast<size_t>(transpose->shape.rank));
  for (size_t i = 0; i < out.size(); ++i) {
    out[transpose->attr.order[i]] = static_cast<int64_t>(i);
  }
  return out;
}

NodeRef transpose(const NodeRef& x, std::optional<std::vector<int64_t>> order) {
  const int64_t rank = x->shape.rank;
  if (!order) {
    order.emplace(rank);
    std::iota(order->rbegin(), order->rend(), 0);
  }
  if (static_cast<int64_t>(order->size()) != rank) {
    fail(ErrorKind::Value, "transpose: expected ", counted(rank, "axis", "axes"),
         " for a tensor of rank ", rank, ", got ", static_cast<int64_t>(order->size()));
  }
  Attr attr;
  Shape shape;
  shape.resize(rank);
  bool seen[kMaxRank] = {};
  bool moves = false;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t axis = normal_axis((*order)[i], rank, "transpose");
    if (seen[axis]) {
      fail(ErrorKind::Value, "transpose: expected distinct axes, got axis ", axis, " twice");
    };
    seen[axis] = true;
    moves |= axis != i;
    attr.order.set(i, axis);
    shape[i] = x->shape[axis];
  }
  if (!moves) return x;
  return unary(Op::transpose, x, shape, attr);
}

NodeRef swap_last_axes(const NodeRef& x) {
  std::vector<int64_t> order(x->shape.rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

NodeRef broadcast_to(const NodeRef& x, const Shape& shape, const char* who) {
  if (shape == x->shape) return x;
  if (!broadcasts_to(x->shape, shape)) {
    fail(ErrorKind::Value, who, ": shape ", x->shape, " does not broadcast to ", shape);
  }
  return unary(Op::broadcast_to, x, shape, {}, who);
}

NodeRef expand_dims(const NodeRef& x, const std::vector<int64_t>& axes) {
  const int64_t rank = x->shape.rank + static_cast<int64_t>(axes.size());
  std::vector<bool> fresh(rank);
  for (int64_t axis : axes) {
    const int64_t at = normal_axis(axis, rank, "expand_dims");
    if (fresh[at]) {
      fail(ErrorKind::Value, "expand_dims: expected distinct axes, got axis ", at, " twice");
    };
    fresh[at] = true;
  }
  Shape shape;
  for (int64_t i = 0, from = 0; i < rank; ++i) shape.append(fresh[i] ? 1 : x->shape[from++]);
  return reshape(x, shape, "expand_dims");
}

NodeRef squeeze(const NodeRef& x, const Axes& axes) {
  bool drop[kMaxRank] = {};
  if (axes) {
    for (int64_t axis : *axes) {
      const int64_t at = normal_axis(axis, x->shape.rank, "squeeze");
      if (x->shape[at] != 1) {
        fail(ErrorKind::Value, "squeeze: expected size 1 for axis ", at, ", got ", x->shape[at],
             " in shape ", x->shape);
      }
      drop[at] = true;
    }
  } else {
    for (int64_t i = 0; i < x->shape.rank; ++i) drop[i] = x->shape[i] == 1;
  }
  Shape shape;
  for (int64_t i = 0; i < x->shape.rank; ++i) {
    if (!drop[i]) shape.append(x->shape[i]);
  }
  return reshape(x, shape, "squeeze");
}

NodeRef slice(const NodeRef& x, const Shape& shape, const StridedSlice& range) {
  return make_with_slice(Op::slice, x, shape, range);
}

NodeRef narrow(const NodeRef& x, int64_t axis, int64_t start, int64_t length) {
  StridedSlice range(x->shape.rank);
  range.start[axis] = start;
  Shape shape = x->shape;
  shape[axis] = length;
  return slice(x, shape, range);
}

NodeRef embed(const NodeRef& x, const Shape& shape, const StridedSlice& range) {
  return make_with_slice(Op::embed, x, shape, range);
}

NodeRef slice_mask(const Shape& inside, const Shape& shape, const StridedSlice& range) {
  StridedSlice narrow(shape.rank);
  Shape kept = inside;
  Shape around = shape;
  bool whole = true;
  for (int64_t d = 0; d < shape.rank; ++d) {
    if (inside[d] == shape[d]) {
      kept[d] = around[d] = 1;
      continue;
    }
    narrow.start[d] = range.start[d];
    narrow.step[d] = range.step[d];
    whole = false;
  }
  return whole ? nullptr : embed(ones(kept, DType::Bool), around, narrow);
}

NodeRef at_slice(const NodeRef& base, const NodeRef& value, const StridedSlice& range,
                 Update update) {
  if (is_storage(base->dtype) && update == Update::Add) {
    const DType wide = widened(base->dtype);
    return cast(at_slice(cast(base, wide), cast(value, wide), range, update), base->dtype);
  }
  Attr attr;
  attr.update = update;
  Node* inputs[] = {base.get(), value.get()};
  NodeRef node = make_node(Op::at_slice, base->dtype, base->shape, inputs, attr);
  node->slice = std::make_unique<StridedSlice>(range);
  return node;
}

NodeRef concat(std::span<const NodeRef> parts, int64_t requested) {
  if (parts.empty()) fail(ErrorKind::Value, "concat: expected at least one tensor, got none");
  const Shape& first = parts[0]->shape;
  if (first.rank == 0) {
    fail(ErrorKind::Value, "concat: expected tensors of rank 1 or more, got scalars; use stack");
  }
  const int64_t axis = normal_axis(requested, first.rank, "concat");
  DType dtype = parts[0]->dtype;
  for (const NodeRef& part : parts) dtype = promote(dtype, part->dtype);
  Shape shape = first;
  shape[axis] = 0;
  std::vector<NodeRef> inputs;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Shape& part = parts[i]->shape;
    Shape expected = first;
    expected[axis] = part.rank == first.rank ? part[axis] : 0;
    if (!(part == expected)) {
      fail(ErrorKind::Value, "concat: expected shapes that differ only in axis ", axis, ", got ",
           first, " for tensor 0 and ", part, " for tensor ", static_cast<int64_t>(i));
    }
    shape[axis] = checked_add(shape[axis], part[axis], "concat");
    inputs.push_back(cast(parts[i], dtype));
  }
  if (parts.size() == 1) return inputs[0];
  Attr attr;
  attr.axis = static_cast<int8_t>(axis);
  return make_node(Op::concat, dtype, shape, pointers(inputs), attr);
}

NodeRef stack(std::span<const NodeRef> parts, int64_t axis) {
  if (parts.empty()) fail(ErrorKind::Value, "stack: expected at least one tensor, got none");
  const int64_t at = normal_axis(axis, parts[0]->shape.rank + 1, "stack");
  std::vector<NodeRef> expanded;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!(parts[i]->shape == parts[0]->shape)) {
      fail(ErrorKind::Value, "stack: expected tensors of one shape, got ", parts[0]->shape,
           " for tensor 0 and ", parts[i]->shape, " for tensor ", static_cast<int64_t>(i));
    }
    expanded.push_back(expand_dims(parts[i], {at}));
  }
  return concat(expanded, at);
}

std::vector<NodeRef> split(const NodeRef& x, const std::vector<int64_t>& sizes, int64_t requested) {
  const int64_t axis = normal_axis(requested, x->shape.rank, "split");
  int64_t total = 0;
  for (int64_t size : sizes) {
    if (size < 0) fail(ErrorKind::Value, "split: expected sizes >= 0, got ", size);
    total = checked_add(total, size, "split");
  }
  if (total != x->shape[axis]) {
    fail(ErrorKind::Value, "split: expected sizes with the sum ", x->shape[axis],
         ", the size of axis ", axis, " of shape ", x->shape, ", got ", total);
  }
  std::vector<NodeRef> out;
  int64_t start = 0;
  for (int64_t size : sizes) {
    out.push_back(narrow(x, axis, start, size));
    start += size;
  }
  return out;
}

// --- rules

void identity_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, call.g, nullptr};
}

void transfer_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, transfer(call.g, call.node->in[0]->device()), nullptr};
}

void reshape_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, reshape(call.g, call.node->in[0]->shape), nullptr};
}

void transpose_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, transpose(call.g, inverse_order(call.node)), nullptr};
}

// The adjoint sums g down to the shape of the input.
void broadcast_vjp(const VjpCall& call, Cotangent* out) { identity_vjp(call, out); }

// Entries outside of the slice are a structural zero, as in `where`.
void slice_vjp(const VjpCall& call, Cotangent* out) {
  const Node* x = call.node->in[0];
  const StridedSlice& range = *call.node->slice;
  NodeRef mask;
  if (call.live[0] == kWantedMasked) mask = slice_mask(call.g->shape, x->shape, range);
  out[0] = {Cotangent::Value, embed(call.g, x->shape, range), mask, true};
}

void embed_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, slice(call.g, call.node->in[0]->shape, *call.node->slice), nullptr};
}

// Overwritten entries of the base are a structural zero; see slice_vjp.
void at_slice_vjp(const VjpCall& call, Cotangent* out) {
  const Node* base = call.node->in[0];
  const Shape& inside = call.node->in[1]->shape;
  const StridedSlice& range = *call.node->slice;
  out[0] = {Cotangent::Value, call.g, nullptr};
  if (call.node->attr.update == Update::Set && call.live[0]) {
    NodeRef mask;
    if (call.live[0] == kWantedMasked) {
      mask =
          at_slice(ones(base->shape, DType::Bool), zeros(inside, DType::Bool), range, Update::Set);
    }
    out[0] = {Cotangent::Value, at_slice(call.g, zeros(inside, call.g->dtype), range, Update::Set),
              mask, true};
  }
  if (call.live[1]) out[1] = {Cotangent::Value, slice(call.g, inside, range), nullptr};
}

void concat_vjp(const VjpCall& call, Cotangent* out) {
  std::vector<int64_t> sizes;
  const int64_t axis = call.node->attr.axis;
  for (const Node* input : call.node->inputs()) sizes.push_back(input->shape[axis]);
  const std::vector<NodeRef> parts = split(call.g, sizes, axis);
  for (size_t i = 0; i < parts.size(); ++i) out[i] = {Cotangent::Value, parts[i], nullptr};
}

}  // namespace pullback
