// Sums are formed around a shift, in a wider dtype, or of numbers scaled by a power of two, so that
// no digits and no range are lost. Shifts and scales have no gradient, since results do not depend
// on them.
#include "ops/statistics.h"

#include <algorithm>

#include "ops/expr.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

using namespace formula;

NodeRef sum_of(const NodeRef& x, const Axes& axes, bool keepdims) {
  return reduce(Op::sum, x, axes, keepdims);
}

// The first entry along axes, which is available before the mean.
NodeRef first_along(const NodeRef& x, const std::vector<int64_t>& axes) {
  Shape shape = x->shape;
  for (const int64_t axis : axes) shape[axis] = std::min<int64_t>(shape[axis], 1);
  return shape == x->shape ? x : slice(x, shape, StridedSlice(shape.rank));
}

// The number that is subtracted first. For dtypes narrower than 8 bytes the first element loses at
// most a factor N of digits that they do not have in float64.
NodeRef centre(const NodeRef& x, const NodeRef& wide, const std::vector<int64_t>& axes,
               const NodeRef& mask) {
  if (mask) {
    const Expr total = sum_of(where(mask, wide, 0.0), axes, true);
    return total / cast(sum_of(mask, axes, true), DType::Float64);
  }
  const Expr first = cast(first_along(x, axes), DType::Float64);
  if (size_of(x->dtype) < 8) return first;
  const Expr rest = mean(Expr(wide) - first, axes, true);
  return first + rest;
}

// The square root, whose slope would be infinite at 0.
Expr root(const Expr& total) {
  const Expr live = total != 0.0;
  const Expr positive = where(live, total, 1.0);
  return where(live, sqrt(positive), 0.0);
}

// A dtype in which no square of a number of this dtype overflows or underflows.
std::optional<DType> wider(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return DType::Float32;
    case DType::BFloat16:
    case DType::Float32:
      return DType::Float64;
    default:
      return std::nullopt;
  }
}

// Of the largest power of two.
double largest_exponent(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 15;
    case DType::BFloat16:
    case DType::Float32:
      return 127;
    default:
      return 1023;
  }
}

// Of real floats, summed in the wider dtype, if there is one; multiplied by `factor` otherwise.
Expr squares_of(const NodeRef& x, const Axes& axes, bool keepdims, const NodeRef& factor) {
  const auto wide = wider(x->dtype);
  const Expr within = wide ? Expr(cast(x, *wide)) : Expr(x) * Expr(factor);
  return sum_of(square(within), axes, keepdims);
}

// A scale whose inverse is finite: squares of all numbers below it divided by it are normal.
Expr invertible(const NodeRef& scale) {
  return maximum(scale, scale->dtype == DType::Float32 ? 0x1p-100 : 0x1p-960);
}

// The largest power of two that is not larger than a size; 1 for 0 and NaN.
Expr power_of_two(const NodeRef& size) {
  const Expr some = where(Expr(size) > 0.0, size, 1.0);
  // log2 rounds the largest numbers up.
  return exp2(minimum(floor(log2(some)), largest_exponent(size->dtype)));
}

// True for one or more axes without others between them.
bool are_adjacent(AxisMask axes) {
  const unsigned lowest = axes & (~unsigned{axes} + 1);
  return axes != 0 && (axes & (axes + lowest)) == 0;
}

}  // namespace

NodeRef variance(const NodeRef& x, const std::vector<int64_t>& axes, double correction,
                 bool keepdims, const NodeRef& mask) {
  const NodeRef wide = cast(x, DType::Float64);
  const Expr shift = stop_gradient(centre(x, wide, axes, mask));
  Expr apart = Expr(wide) - shift;
  if (mask) apart = where(mask, apart, 0.0);
  const Expr total = sum_of(apart, axes, keepdims);
  Expr squares = sum_of(square(apart), axes, keepdims);
  const int64_t sums = total.node->shape.size();
  const int64_t terms = sums ? x->shape.size() / sums : 0;  // of each sum
  const auto count = static_cast<double>(terms);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Expr n = count;
  Expr rest = count > correction ? count - correction : kNaN;
  if (mask) {
    n = cast(sum_of(mask, axes, keepdims), DType::Float64);
    rest = n - correction;
    rest = where(rest > 0.0, rest, kNaN);
  }
  // Squared distances from the mean are those from the centre, minus those of the mean from it.
  // Rounding can make a result close to 0 negative.
  const Expr of_mean = square(total) / n;
  squares = squares - of_mean;
  squares = where(squares < 0.0, 0.0, squares);
  return squares / rest;
}

NodeRef deviation(const NodeRef& variance, DType dtype) { return cast(root(variance), dtype); }

// The mean is subtracted twice, the second time as the mean of the first difference. So entries
// beside a large mean keep their accuracy, and equal entries are exactly 0.
NodeRef normalize(const NodeRef& x, const std::vector<int64_t>& axes, double epsilon) {
  const Expr shift = stop_gradient(mean(x, axes, true));
  Expr apart = Expr(x) - shift;
  const Expr middle = mean(apart, axes, true);
  apart = apart - middle;
  const Expr variance = mean(square(apart), axes, true);
  return apart * rsqrt(variance + Expr(weak_scalar(epsilon)));
}

NodeRef normalize_square(const NodeRef& x, const std::vector<int64_t>& axes, double epsilon) {
  const Expr power = mean(square(Expr(x)), axes, true);
  return Expr(x) * rsqrt(power + Expr(weak_scalar(epsilon)));
}

NodeRef power_of_two_scale(const NodeRef& sizes, const Axes& axes) {
  const Expr top = stop_gradient(reduce(Op::max, sizes, axes, true));
  return power_of_two(where(top < kInfinity, top, 0.0));
}

// Adjacent axes have an operation, which reads their elements once.
NodeRef euclidean_norm(const NodeRef& x, const Axes& axes, bool keepdims) {
  if (x->shape.size() == 0) return sum_of(x, axes, keepdims);
  if (are_adjacent(axes_mask(x->shape, axes, "norm"))) {
    const bool half = size_of(x->dtype) < 4;
    const NodeRef within = half ? cast(x, DType::Float32) : x;
    return cast(reduce(Op::euclidean_norm, within, axes, keepdims), x->dtype);
  }
  if (wider(x->dtype)) return cast(root(squares_of(x, axes, keepdims, nullptr)), x->dtype);
  const Expr scale = invertible(power_of_two_scale(abs(Expr(x)), axes));
  NodeRef out = root(squares_of(x, axes, true, 1.0 / scale)) * scale;
  if (keepdims) return out;
  return axes ? squeeze(out, axes) : reshape(out, {});
}

// The cotangent is x over the norm, both scaled by a power of two: the norm alone may have lost
// digits, or be infinite.
void euclidean_norm_vjp(const VjpCall& call, Cotangent* out) {
  const NodeRef x(call.node->in[0]);
  const AxisMask mask = call.node->attr.axes;
  const Shape kept = folded(x->shape, mask, true);
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < kept.rank; ++d) {
    if (mask >> d & 1) axes.push_back(d);
  }
  const bool single = call.node->dtype == DType::Float32;
  const Expr size = power_of_two(stop_gradient(reshape(call.node, kept)));
  const Expr scale = maximum(size, single ? 0x1p-126 : 0x1p-1022);  // its inverse is finite
  const Expr near = Expr(x) * (1.0 / scale);
  const Expr norm = reduce(Op::euclidean_norm, near, axes, true);
  const Expr live = norm != 0.0;
  const Expr slope = where(live, Expr(reshape(call.g, kept)) / where(live, norm, 1.0), 0.0);
  out[0] = {Cotangent::Value, near * slope, nullptr};
}

NodeRef euclidean_norm(const std::vector<NodeRef>& xs) {
  std::vector<NodeRef> some;
  for (const NodeRef& x : xs) {
    if (x->shape.size()) some.push_back(x);
  }
  if (some.size() < 2) return euclidean_norm(some.empty() ? xs[0] : some[0], std::nullopt, false);
  NodeRef scale, factor;
  if (!wider(xs[0]->dtype)) {
    std::vector<NodeRef> tops;
    for (const NodeRef& x : some) {
      tops.push_back(reduce(Op::max, abs(Expr(x)), std::nullopt, false));
    }
    scale = invertible(reshape(power_of_two_scale(stack(tops, 0), std::nullopt), {}));
    factor = 1.0 / Expr(scale);
  }
  std::vector<Expr> squares;
  for (const NodeRef& x : some) squares.push_back(squares_of(x, std::nullopt, false, factor));
  Expr total = squares[0];
  for (size_t k = 1; k < squares.size(); ++k) total = total + squares[k];
  return scale ? NodeRef(root(total) * Expr(scale)) : cast(root(total), xs[0]->dtype);
}

}  // namespace pullback
