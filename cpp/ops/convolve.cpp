// Builders and rules of convolutions and pools.
//
// A convolution is linear in both operands, and both transposes are convolutions. With respect to
// x: the taps are reversed, and stride and spacing change places. With respect to w: the batch is
// the summed axis, and stride and dilation change places. So one rule gives derivatives of every
// order; the backend chooses the fastest way to compute each form.

#include "ops/convolve.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "graph/make.h"
#include "ops/complex.h"
#include "ops/expr.h"

namespace pullback {
namespace {

constexpr int64_t kGroup = 4, kChannel = 5;  // axes of x and y
constexpr int64_t kFrom = 4, kTo = 5;        // axes of w; its groups are axis 3
// So small that a product of two and a few sums cannot overflow.
constexpr int64_t kLargest = int64_t{1} << 31;

void check(const Windowing& f, const char* who) {
  const auto inside = [](int64_t n, int64_t least) { return n >= least && n < kLargest; };
  for (size_t d = 0; d < 3; ++d) {
    if (!inside(f.stride[d], 1) || !inside(f.dilation[d], 1) || !inside(f.spacing[d], 1) ||
        !inside(f.size[d], 1) || !inside(f.low[d], -kLargest)) {
      fail(ErrorKind::Value, who,
           ": expected strides, dilations and sizes from 1 to 2**31 - 1, got ",
           Shape{f.stride[d], f.dilation[d], f.spacing[d], f.size[d], f.low[d]});
    }
  }
}

// Stored in Node::slice: low, then spacing or size, as starts; stride and dilation as steps.
NodeRef make_windows(Op op, DType dtype, const Shape& shape, std::span<Node* const> inputs,
                     const Windowing& f) {
  const bool pool = op != Op::convolve;
  NodeRef out = make_node(op, dtype, shape, inputs);
  out->slice = std::make_unique<StridedSlice>(6);
  for (int64_t d = 0; d < 3; ++d) {
    out->slice->start[d] = f.low[d];
    out->slice->start[3 + d] = pool ? f.size[d] : f.spacing[d];
    out->slice->step[d] = f.stride[d];
    out->slice->step[3 + d] = f.dilation[d];
  }
  return out;
}

NodeRef flipped(const NodeRef& w) {
  StridedSlice range(w->shape.rank);
  for (int64_t d = 0; d < 3; ++d) {
    if (w->shape[d] == 0) return w;
    range.start[d] = w->shape[d] - 1;
    range.step[d] = -1;
  }
  return slice(w, w->shape, range);
}

PerWindow lengths(const Shape& shape, int64_t first) {
  return {shape[first], shape[first + 1], shape[first + 2]};
}

NodeRef pool(Op op, const NodeRef& x, const NodeRef& g, const Windowing& f, const PerWindow& out) {
  Shape shape = x->shape;
  if (op != Op::max_pool_spread) {
    for (int64_t d = 0; d < 3; ++d) shape[1 + d] = out[d];
  }
  Node* inputs[] = {x.get(), g.get()};
  return make_windows(op, x->dtype, shape, {inputs, g ? size_t{2} : size_t{1}}, f);
}

Cotangent value(NodeRef of) { return {Cotangent::Value, std::move(of), nullptr}; }

}  // namespace

Windowing windowing_of(const Node* node) {
  Windowing out;
  for (int64_t d = 0; d < 3; ++d) {
    out.low[d] = node->slice->start[d];
    (node->op == Op::convolve ? out.spacing : out.size)[d] = node->slice->start[3 + d];
    out.stride[d] = node->slice->step[d];
    out.dilation[d] = node->slice->step[3 + d];
  }
  return out;
}

NodeRef convolve(const NodeRef& x, const NodeRef& w, const Windowing& windows,
                 const PerWindow& out) {
  constexpr const char* kWho = "convolution";
  if (x->shape.rank != 6 || w->shape.rank != 6 || x->shape[kGroup] != w->shape[3] ||
      x->shape[kChannel] != w->shape[kFrom]) {
    fail(ErrorKind::Value, kWho, ": expected equal groups and channels of x and w, got shapes ",
         x->shape, " and ", w->shape);
  }
  check(windows, kWho);
  const DType dtype = promote(x->dtype, w->dtype);
  if (!is_inexact(dtype)) {
    fail(ErrorKind::Type, kWho, ": expected floats, got ", x->dtype, " and ", w->dtype,
         "; cast one of them");
  }
  if (is_complex(dtype)) {
    const auto part = [&](const NodeRef& a, const NodeRef& b) {
      return Expr(convolve(a, b, windows, out));
    };
    const NodeRef a = real_part(x);
    const NodeRef b = real_part(w);
    if (!is_complex(x->dtype)) return make_complex(part(a, b), part(a, imaginary_part(w)));
    const NodeRef c = imaginary_part(x);
    if (!is_complex(w->dtype)) return make_complex(part(a, b), part(c, b));
    const NodeRef d = imaginary_part(w);
    return make_complex(part(a, b) - part(c, d), part(a, d) + part(c, b));
  }
  if (is_storage(dtype)) {  // summed in the compute dtype, rounded once
    const DType wide = widened(dtype);
    return cast(convolve(cast(x, wide), cast(w, wide), windows, out), dtype);
  }
  const Shape shape{x->shape[0], out[0], out[1], out[2], x->shape[kGroup], w->shape[kTo]};
  const NodeRef left = cast(x, dtype);
  const NodeRef right = cast(w, dtype);
  Node* inputs[] = {left.get(), right.get()};
  return make_windows(Op::convolve, dtype, shape, inputs, windows);
}

namespace {

// True if each of `count` windows along axis d contains an entry of the input. Only the windows
// that begin before the input and the last one have to be tested; sizes may be huge.
bool see_entries(const Windowing& windows, size_t d, int64_t length, int64_t count) {
  const int64_t stride = windows.stride[d], dilation = windows.dilation[d], low = windows.low[d];
  const auto sees = [&](int64_t o) {
    const TapRange seen = taps_inside(o * stride - low, length, dilation, windows.size[d]);
    return seen.begin < seen.end;
  };
  if (count == 0) return true;
  if (!sees(0) || !sees(count - 1)) return false;
  if (dilation <= length)
    return true;  // the taps cannot step over the input, and the first window has the fewest
  const int64_t before = low > 0 ? (low - 1) / stride + 1 : 0;
  // The starts of windows repeat with this period.
  const int64_t period = dilation / std::gcd(stride, dilation);
  for (int64_t o = 1; o < std::min({count, before, period}); ++o) {
    if (!sees(o)) return false;
  }
  return true;
}

}  // namespace

NodeRef max_pool(const NodeRef& x, const Windowing& windows, const PerWindow& out) {
  constexpr const char* kWho = "max_pool";
  if (x->shape.rank != 5) {
    fail(ErrorKind::Value, kWho, ": expected rank 5 for x, got shape ", x->shape);
  }
  check(windows, kWho);
  refuse_complex(x.get(), kWho);
  if (x->dtype == DType::Bool || x->dtype == DType::UInt64) {
    fail(ErrorKind::Type, kWho, ": expected floats or integers, got ", x->dtype, "; cast it");
  }
  if (is_storage(x->dtype)) {
    return cast(max_pool(cast(x, widened(x->dtype)), windows, out), x->dtype);
  }
  for (size_t d = 0; d < 3; ++d) {
    const int64_t length = x->shape[static_cast<int64_t>(d) + 1];
    if (!see_entries(windows, d, length, out[d])) {
      fail(ErrorKind::Value, kWho,
           ": expected an element of x in each window, got a window of padding only: axis size ",
           length, ", window size ", windows.size[d], ", padding ", windows.low[d]);
    }
  }
  return pool(Op::max_pool, x, nullptr, windows, out);
}

namespace {

// Reshapes [batch, n, …] to [batch · n, …].
NodeRef merged_batch(const NodeRef& x) {
  Shape shape;
  shape.append(x->shape[0] * x->shape[1]);
  for (int64_t d = 2; d < x->shape.rank; ++d) shape.append(x->shape[d]);
  return reshape(x, shape);
}
NodeRef split_axis(const NodeRef& y, int64_t count, int64_t axis) {
  Shape shape;
  for (int64_t d = 0; d < y->shape.rank; ++d) {
    if (d == axis) shape.append(count);
    shape.append(d == axis ? y->shape[d] / count : y->shape[d]);
  }
  return reshape(y, shape);
}
// Moves the first axis in front of axis `axis` of the rest and merges the two.
NodeRef merged_at(const NodeRef& x, int64_t axis) {
  std::vector<int64_t> order;
  Shape shape;
  for (int64_t d = 1; d < x->shape.rank; ++d) {
    if (d == axis + 1) order.push_back(0);
    order.push_back(d);
    shape.append(d == axis + 1 ? x->shape[0] * x->shape[d] : x->shape[d]);
  }
  return reshape(transpose(x, order), shape);
}
// The inverse of merged_at: splits an axis and moves its first part to the front.
NodeRef split_at(const NodeRef& y, int64_t count, int64_t axis) {
  const NodeRef split = split_axis(y, count, axis);
  std::vector<int64_t> order{axis};
  for (int64_t d = 0; d < split->shape.rank; ++d) {
    if (d != axis) order.push_back(d);
  }
  return transpose(split, order);
}

}  // namespace

NodeRef batched_windows(const Node* node, const std::vector<NodeRef>& inputs,
                        const std::vector<bool>& has_batch, int64_t count) {
  const Windowing f = windowing_of(node);
  if (count == 0) {
    Shape none{0};
    for (int64_t n : node->shape) none.append(n);
    return zeros(none, node->dtype);
  }
  if (node->op != Op::convolve) {
    const NodeRef x = merged_batch(inputs[0]);
    const NodeRef g = inputs.size() > 1 ? merged_batch(inputs[1]) : nullptr;
    return split_axis(pool(node->op, x, g, f, lengths(node->shape, 1)), count, 0);
  }
  const PerWindow out = lengths(node->shape, 1);
  if (!has_batch[1])
    return split_axis(convolve(merged_batch(inputs[0]), inputs[1], f, out), count, 0);
  if (!has_batch[0]) {  // the batch of w becomes more output channels
    return split_at(convolve(inputs[0], merged_at(inputs[1], kTo), f, out), count, kChannel);
  }
  const NodeRef y = convolve(merged_at(inputs[0], kGroup), merged_at(inputs[1], 3), f, out);
  return split_at(y, count, kGroup);
}

namespace {

// True if axis d has size 1 in x, w and the result, and no padding.
bool is_trivial(const NodeRef& x, const NodeRef& w, const NodeRef& g, const Windowing& f,
                size_t d) {
  const auto axis = static_cast<int64_t>(d);
  return x->shape[axis + 1] == 1 && w->shape[axis] == 1 && g->shape[axis + 1] == 1 && f.low[d] == 0;
}

// True if axis d has a single window, which covers all entries of x.
bool is_covered(const NodeRef& x, const NodeRef& w, const NodeRef& g, const Windowing& f,
                size_t d) {
  const auto axis = static_cast<int64_t>(d);
  return g->shape[axis + 1] == 1 && w->shape[axis] == x->shape[axis + 1] && f.low[d] == 0 &&
         f.dilation[d] == 1 && f.spacing[d] == 1;
}

// Moves an axis of size 1 from the end of the three to their front.
template <class T>
void rotate_axes(T* sizes, int64_t first, int64_t one = 1) {
  (*sizes)[first + 2] = std::exchange((*sizes)[first + 1], (*sizes)[first]);
  (*sizes)[first] = one;
}

// The cotangents of x and w (null: not wanted) for the cotangent g.
struct OfOperands {
  NodeRef x, w;
};
OfOperands cotangents_of_operands(const NodeRef& x, const NodeRef& w, const NodeRef& g,
                                  const Windowing& f, bool by_x, bool by_w);

// The same by a convolution in fewer axes, or nothing. A window that covers an axis would be
// convolved with padding on both sides of g, though each entry of x meets one entry of the window.
// The entries of such an axis are more channels; without a window left the cotangents are products
// of matrices. Networks that convolve whole sentences, or end with a kernel of the size of the
// image, have such windows.
std::optional<OfOperands> by_fewer_axes(const NodeRef& x, const NodeRef& w, const NodeRef& g,
                                        Windowing f, bool by_x, bool by_w) {
  if (x->shape[kGroup] != 1) return std::nullopt;
  OfOperands out;
  Shape of_x = x->shape;
  Shape of_w = w->shape;
  Shape of_g = g->shape;
  int64_t last = 2;  // the axes after it are trivial, so a reshape merges it with the channels
  while (last >= 0 && is_trivial(x, w, g, f, static_cast<size_t>(last))) --last;
  if (last < 0) {
    const NodeRef rows = reshape(x, {of_x[0], of_x[kChannel]});
    const NodeRef matrix = reshape(w, {of_w[kFrom], of_w[kTo]});
    const NodeRef sent = reshape(g, {of_g[0], of_g[kChannel]});
    if (by_x) out.x = matmul(sent, transpose(matrix));
    if (by_w) out.w = matmul(transpose(rows), sent);
  } else {
    if (is_covered(x, w, g, f, static_cast<size_t>(last))) {
      of_x[kChannel] *= std::exchange(of_x[last + 1], 1);
      of_w[kFrom] *= std::exchange(of_w[last], 1);
      f.stride[last] = 1;
    } else if (last < 2) {  // kernels run along the last axis
      for (Shape* shape : {&of_x, &of_g}) rotate_axes(shape, 1);
      rotate_axes(&of_w, 0);
      for (PerWindow* one : {&f.stride, &f.dilation, &f.spacing}) rotate_axes(one, 0);
      rotate_axes(&f.low, 0, 0);
    } else {
      return std::nullopt;
    }
    out =
        cotangents_of_operands(reshape(x, of_x), reshape(w, of_w), reshape(g, of_g), f, by_x, by_w);
  }
  if (by_x) out.x = reshape(out.x, x->shape);
  if (by_w) out.w = reshape(out.w, w->shape);
  return out;
}

OfOperands cotangents_of_operands(const NodeRef& x, const NodeRef& w, const NodeRef& g,
                                  const Windowing& f, bool by_x, bool by_w) {
  if (auto found = by_fewer_axes(x, w, g, f, by_x, by_w)) return *found;
  OfOperands out;
  if (by_x) {
    Windowing of_x = f;
    std::swap(of_x.stride, of_x.spacing);
    for (size_t d = 0; d < 3; ++d) {
      of_x.low[d] = (w->shape[static_cast<int64_t>(d)] - 1) * f.dilation[d] - f.low[d];
    }
    out.x = convolve(g, transpose(flipped(w), {{0, 1, 2, 3, 5, 4}}), of_x, lengths(x->shape, 1));
  }
  if (by_w) {
    Windowing of_w = f;
    std::swap(of_w.stride, of_w.dilation);
    const NodeRef dw = convolve(transpose(x, {{5, 1, 2, 3, 4, 0}}),
                                transpose(g, {{1, 2, 3, 4, 0, 5}}), of_w, lengths(w->shape, 0));
    out.w = transpose(dw, {{1, 2, 3, 4, 0, 5}});
  }
  return out;
}

}  // namespace

void convolve_vjp(const VjpCall& call, Cotangent* out) {
  const OfOperands found =
      cotangents_of_operands(NodeRef(call.node->in[0]), NodeRef(call.node->in[1]), call.g,
                             windowing_of(call.node), call.live[0] != 0, call.live[1] != 0);
  if (found.x) out[0] = value(found.x);
  if (found.w) out[1] = value(found.w);
}

// The choice of the largest entry is locally constant in x.
void max_pool_vjp(const VjpCall& call, Cotangent* out) {
  const NodeRef x(call.node->in[0]);
  if (!is_float(x->dtype)) return;
  out[0] = value(pool(Op::max_pool_spread, x, call.g, windowing_of(call.node), {}));
}

void max_pool_spread_vjp(const VjpCall& call, Cotangent* out) {
  const Shape& g = call.node->in[1]->shape;
  if (call.live[0]) out[0] = {Cotangent::Zero};
  if (call.live[1]) {
    out[1] = value(pool(Op::max_pool_choose, NodeRef(call.node->in[0]), call.g,
                        windowing_of(call.node), lengths(g, 1)));
  }
}

void max_pool_choose_vjp(const VjpCall& call, Cotangent* out) {
  if (call.live[0]) out[0] = {Cotangent::Zero};
  if (call.live[1]) {
    out[1] = value(
        pool(Op::max_pool_spread, NodeRef(call.node->in[0]), call.g, windowing_of(call.node), {}));
  }
}

}  // namespace pullback
