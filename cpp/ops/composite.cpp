// Builders and rules of composites. Each composite is one Op::custom node around the operations
// that compute it. Without a rule in this file, gradients pass through these operations.

#include "ops/composite.h"

#include <algorithm>
#include <span>

#include "base/counted.h"
#include "base/error.h"
#include "graph/make.h"
#include "graph/walk.h"
#include "ops/expr.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

using namespace formula;

using CompositeVjp = Cotangent (*)(Node* y, const Expr& g, Node* x);

struct CompositeRule : Rule {
  explicit CompositeRule(CompositeVjp vjp) : vjp(vjp) {
    refs = 1;  // never freed
    of_library = true;
  }
  std::vector<Cotangent> apply(const RuleCall& call) override {
    return {vjp(call.node, call.cotangents[0], call.inputs[0])};
  }
  CompositeVjp vjp;
};

// A storage float: composites compute in a wider dtype and round once.
bool is_half(const NodeRef& x) { return is_float(x->dtype) && is_storage(x->dtype); }

NodeRef as_float(const NodeRef& x) { return is_inexact(x->dtype) ? x : cast(x, default_float()); }

Expr sum_over(const Expr& x, int64_t axis) {
  return reduce(Op::sum, x, std::vector<int64_t>{axis}, true);
}

Cotangent softmax_rule(Node* node, const Expr& g, Node*) {
  const Expr y = node;
  const Expr gy = g * y;
  return {Cotangent::Value, gy - y * sum_over(gy, node->attr.axis), nullptr};
}

// The terms of softmax and related functions along `axes`. A rule rebuilds them from x; the planner
// merges them with the existing ones as common subexpressions.
struct Exponentials {
  Expr top, shifted, total;
};

Exponentials exponentials(Op minus, const NodeRef& x, const std::vector<int64_t>& axes) {
  const Expr top = stop_gradient(reduce(Op::max, x, axes, true));
  const Expr shifted = apply(minus, Expr(x), top);
  return {top, shifted, reduce(Op::sum, exp(shifted), axes, true)};
}

Cotangent log_softmax_rule(Node* node, const Expr& g, Node* x) {
  const int64_t axis = node->attr.axis;
  const Exponentials e = exponentials(Op::subtract, x, {axis});
  return {Cotangent::Value, g - exp(e.shifted) * (sum_over(g, axis) / e.total), nullptr};
}

// exp(x - lse). Rows of -inf give 0; k infinities get 1/k each.
Cotangent logsumexp_rule(Node* node, const Expr& g, Node* x) {
  const AxisMask mask = node->attr.axes;
  const Shape kept = folded(x->shape, mask, true);
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < kept.rank; ++i) {
    if (mask >> i & 1) axes.push_back(i);
  }
  const Exponentials e = exponentials(Op::difference, x, axes);
  const Expr scale = where(e.top == -kInfinity, 0.0, 1.0 / e.total);
  return {Cotangent::Value, exp(e.shifted) * (Expr(reshape(g, kept)) * scale), nullptr};
}

Cotangent extremum_rule(Node* node, const Expr& g, Node* x) {
  const Op op = node->attr.composite == Composite::max ? Op::max : Op::min;
  return extremum_cotangent(op, node, g, x);
}

Rule* own_rule(Composite composite) {
  static auto* const extremum = new CompositeRule(extremum_rule);
  static auto* const softmax = new CompositeRule(softmax_rule);
  static auto* const log_softmax = new CompositeRule(log_softmax_rule);
  static auto* const logsumexp = new CompositeRule(logsumexp_rule);
  switch (composite) {
    case Composite::max:
    case Composite::min:
      return extremum;
    case Composite::softmax:
      return softmax;
    case Composite::log_softmax:
      return log_softmax;
    case Composite::logsumexp:
      return logsumexp;
    case Composite::solve:
    case Composite::det:
    case Composite::logabsdet:
      return linalg_rule(composite);
    default:
      return nullptr;
  }
}

// Marks the operations inside a composite, so that overrides of `sum` or `log` do not apply to
// them. Recurses as deep as a composite is nested, and visits each node once.
void mark_parts(Node* node, std::span<const NodeRef> given) {
  const auto is_it = [&](const NodeRef& one) { return one.get() == node; };
  if (node->in_composite || !node->tracked() || std::any_of(given.begin(), given.end(), is_it))
    return;
  node->in_composite = true;
  node->rule = own_rule(node->attr.composite);
  for (Node* input : node->inputs()) mark_parts(input, given);
}

void stamp(const NodeRef& node, Composite which) {
  if (!overrides_active()) return;
  if (Ref<Rule> stamped = stamped_override(name_of(which))) node->rule = stamped;
}

}  // namespace

NodeRef compose(Composite which, const NodeRef& inside, std::initializer_list<NodeRef> given,
                size_t others) {
  mark_parts(inside.get(), given);
  Node* all[3] = {inside.get()};
  if (given.size() >= std::size(all)) {
    fail(ErrorKind::Runtime, name_of(which), ": expected at most ", std::size(all) - 1,
         " inputs of a composite, got ", given.size(), "; enlarge the array in compose()");
  }
  size_t count = 1;
  for (const NodeRef& x : given) all[count++] = x.get();
  Attr attr;
  attr.composite = which;
  NodeRef node = make_node(Op::custom, inside->dtype, inside->shape, {all, count - others}, attr);
  node->rule = own_rule(which);
  stamp(node, which);
  return node;
}

NodeRef call_composite(Composite which, std::span<Node* const> inside,
                       std::span<Node* const> given) {
  Attr attr;
  attr.composite = which;
  NodeRef call = custom_call(inside, given, attr);
  stamp(call, which);
  return call;
}

NodeRef name_result(Composite which, std::span<Node* const> inputs, uint32_t index) {
  const Node* inside = inputs[0];
  Attr attr;
  attr.composite = which;
  NodeRef node = make_node(Op::custom, inside->dtype, inside->shape, inputs, attr);
  node->output = index;
  const Node* call = operation_of(node.get());
  if (!call) stamp(node, which);
  // Without a rule, nothing is computed from the other inputs or differentiated by them. But a call
  // is traced or batched as a whole, since a later rule of it gets all results.
  constexpr uint8_t kOfInputs = kTracked | kTraced | kHistoryLost;
  if (!(call ? call : node.get())->rule) {
    const uint8_t kept = call ? node->flags & kTraced : 0;
    node->flags = static_cast<uint8_t>((node->flags & ~kOfInputs) | kept);
  }
  node->flags |= inside->flags & (kOfInputs | kWeak);
  if (inside->watchers) node->flags |= kTracked;
  return node;
}

namespace {

NodeRef with_axis(NodeRef node, int64_t axis) {
  node->attr.axis = static_cast<int8_t>(axis);
  return node;
}

NodeRef with_axes(NodeRef node, AxisMask axes, bool keepdims) {
  node->attr.axes = axes;
  node->attr.keepdims = keepdims;
  return node;
}

}  // namespace

NodeRef extremum(Op op, const NodeRef& inside, const NodeRef& x, AxisMask axes, bool keepdims) {
  return with_axes(compose(op == Op::max ? Composite::max : Composite::min, inside, {x}), axes,
                   keepdims);
}

NodeRef power(const NodeRef& inside, Node* x, Node* exponent) {
  // An untracked value is not differentiated, so it needs no name.
  if (!inside->tracked()) return inside;
  NodeRef node = compose(Composite::pow, inside, {NodeRef(x), NodeRef(exponent)});
  node->flags |= inside->flags & kWeak;
  return node;
}

NodeRef mean(const NodeRef& input, const Axes& axes, bool keepdims) {
  if (const DType wide = widened(input->dtype); is_half(input)) {
    return cast(mean(cast(input, wide), axes, keepdims), input->dtype);
  }
  const NodeRef x = as_float(input);
  const NodeRef total = reduce(Op::sum, x, axes, keepdims);
  // The number of elements is known from the shape. The mean of an empty array is 0/0, as in NumPy.
  const int64_t size = total->shape.size();
  const double count = size ? static_cast<double>(x->shape.size()) / size : 1.0;
  return with_axes(compose(Composite::mean, Expr(total) / count, {x}),
                   axes_mask(x->shape, axes, "mean"), keepdims);
}

namespace {

constexpr int kHalvings = 3;  // at most, in one pass over the entries
// From here on eight slices of one memory are read at two thirds of the rate of four.
constexpr int64_t kManyBytes = 8'000'000;
constexpr int64_t kLong = 16;  // entries of a product for which another pass costs less

// Of the entries [outer, length, inner].
int halvings_of(const NodeRef& x) {
  const bool many = x->shape.size() * size_of(x->dtype) >= kManyBytes;
  return many && x->shape[0] == 1 && x->shape[1] >= kLong ? 2 : kHalvings;
}

// The entries [outer, length, inner] of which a product along axes multiplies those of axis 1.
NodeRef as_block(const NodeRef& x, AxisMask axes, int64_t length) {
  const unsigned lowest = axes & (~unsigned{axes} + 1);
  if ((axes & (axes + lowest)) == 0) {  // the axes are adjacent
    const FoldedShape f = folded_shape(x->shape, axes);
    return reshape(x, {f.outer, f.reduced, f.inner});
  }
  std::vector<int64_t> order;
  for (const bool first : {true, false}) {
    for (int64_t i = 0; i < x->shape.rank; ++i) {
      if ((axes >> i & 1) == first) order.push_back(i);
    }
  }
  return reshape(transpose(x, order), {1, length, x->shape.size() / length});
}

}  // namespace

// A tree of halves: without a division, derivatives at zeros are exact at every order.
NodeRef prod(const NodeRef& input, const Axes& axes, bool keepdims) {
  if (const DType wide = widened(input->dtype); is_half(input)) {
    return cast(prod(cast(input, wide), axes, keepdims), input->dtype);
  }
  const NodeRef all =
      is_inexact(input->dtype) ? input : cast(input, traits(input->dtype).accumulator);
  const AxisMask mask = axes_mask(all->shape, axes, "prod");
  const Shape result = folded(all->shape, mask, keepdims);
  int64_t length = 1;
  for (int64_t i = 0; i < all->shape.rank; ++i) {
    if (mask >> i & 1) length *= all->shape[i];
  }
  if (length == 0) {
    // An empty product is 1 and still depends on x, whose gradient is an empty array.
    const Expr nothing = reduce(Op::sum, all, axes, keepdims);
    return with_axes(compose(Composite::prod, nothing + Expr(scalar(all->dtype, 1)), {all}), mask,
                     keepdims);
  }
  NodeRef x = as_block(all, mask, length);
  std::vector<NodeRef> odd;
  while (length > 1) {
    int64_t half[kHalvings];
    // Entries of the product after some halvings. A slice of a product is a product of slices, so
    // several halvings read x once.
    const auto entries = [&](auto&& self, int halvings, int64_t first, int64_t count) -> Expr {
      if (halvings == 0) return narrow(x, 1, first, count);
      return self(self, halvings - 1, first, count) *
             self(self, halvings - 1, first + half[halvings - 1], count);
    };
    const int most = halvings_of(x);
    int done = 0;
    for (; done < most && length > 1; ++done, length /= 2) {
      half[done] = length / 2;
      if (length % 2) odd.push_back(entries(entries, done, length - 1, 1));
    }
    x = entries(entries, done, 0, length);
  }
  for (const NodeRef& part : odd) x = Expr(x) * Expr(part);
  return with_axes(compose(Composite::prod, reshape(x, result), {all}), mask, keepdims);
}

NodeRef logsumexp(const NodeRef& input, const Axes& axes, bool keepdims) {
  if (const DType wide = widened(input->dtype); is_half(input)) {
    return cast(logsumexp(cast(input, wide), axes, keepdims), input->dtype);
  }
  const NodeRef x = as_float(input);
  const AxisMask mask = axes_mask(x->shape, axes, "logsumexp");
  std::vector<int64_t> all;
  for (int64_t i = 0; i < x->shape.rank; ++i) {
    if (mask >> i & 1) all.push_back(i);
  }
  const Exponentials e = exponentials(Op::difference, x, all);
  const NodeRef value = reshape(log(e.total) + e.top, folded(x->shape, mask, keepdims));
  return with_axes(compose(Composite::logsumexp, value, {x}), mask, keepdims);
}

NodeRef softmax(const NodeRef& input, int64_t requested) {
  if (const DType wide = widened(input->dtype); is_half(input)) {
    return cast(softmax(cast(input, wide), requested), input->dtype);
  }
  const NodeRef x = as_float(input);
  const int64_t axis = normal_axis(requested, x->shape.rank, "softmax");
  const Exponentials e = exponentials(Op::subtract, x, {axis});
  return with_axis(compose(Composite::softmax, exp(e.shifted) / e.total, {x}), axis);
}

NodeRef log_softmax(const NodeRef& input, int64_t requested) {
  if (const DType wide = widened(input->dtype); is_half(input)) {
    return cast(log_softmax(cast(input, wide), requested), input->dtype);
  }
  const NodeRef x = as_float(input);
  const int64_t axis = normal_axis(requested, x->shape.rank, "log_softmax");
  const Exponentials e = exponentials(Op::subtract, x, {axis});
  return with_axis(compose(Composite::log_softmax, e.shifted - log(e.total), {x}), axis);
}

NodeRef softmax_cross_entropy(const NodeRef& logits, const NodeRef& labels) {
  if (!(logits->shape == labels->shape) || logits->shape.rank == 0) {
    const bool numbers = is_integer(labels->dtype) && labels->shape.rank + 1 == logits->shape.rank;
    fail(ErrorKind::Value,
         "softmax_cross_entropy: expected one shape (..., classes) for logits and labels, got ",
         logits->shape, " and ", labels->shape,
         numbers ? "; for numbers of classes use sparse_softmax_cross_entropy" : "");
  }
  if (is_half(logits)) {
    const DType wide = widened(logits->dtype);
    return cast(softmax_cross_entropy(cast(logits, wide), cast(labels, wide)), logits->dtype);
  }
  const NodeRef z = as_float(logits);
  const Expr p = cast(labels, z->dtype);
  const Expr terms = multiply_no_nan(Expr(log_softmax(z, -1)), p);
  const Expr total = reduce(Op::sum, terms, std::vector<int64_t>{-1}, false);
  return compose(Composite::softmax_cross_entropy, 0.0 - total, {z, p});
}

NodeRef sparse_softmax_cross_entropy(const NodeRef& logits, const NodeRef& labels) {
  const char* who = "sparse_softmax_cross_entropy";
  if (!is_integer(labels->dtype)) {
    fail(ErrorKind::Type, who, ": expected integers for labels, got ", labels->dtype,
         "; for probabilities use softmax_cross_entropy");
  }
  Shape rows = logits->shape;
  if (rows.rank > 0) rows.resize(rows.rank - 1);
  if (logits->shape.rank == 0 || !(labels->shape == rows)) {
    fail(ErrorKind::Value, who,
         ": expected shape (..., classes) for logits and (...) for labels, got ", logits->shape,
         " and ", labels->shape);
  }
  const int64_t classes = logits->shape[logits->shape.rank - 1];
  if (const auto bad = known_outside(labels, 0, classes)) {
    fail(ErrorKind::Index, who, ": label ", *bad, " is out of range for ",
         counted(classes, "class", "classes"));
  }
  if (is_half(logits)) {
    return cast(sparse_softmax_cross_entropy(cast(logits, widened(logits->dtype)), labels),
                logits->dtype);
  }
  const NodeRef z = as_float(logits);
  const Exponentials e = exponentials(Op::subtract, z, {logits->shape.rank - 1});
  const Expr loss = Expr(reshape(log(e.total), rows)) - Expr(pick(e.shifted, labels));
  return compose(Composite::sparse_softmax_cross_entropy, loss, {z, labels}, 1);
}

NodeRef one_hot(const NodeRef& indices, int64_t depth, DType dtype, int64_t requested) {
  if (!is_integer(indices->dtype)) {
    fail(ErrorKind::Type, "one_hot: expected integers for indices, got ", indices->dtype);
  }
  if (depth < 0) fail(ErrorKind::Value, "one_hot: expected an integer >= 0 for depth, got ", depth);
  const int64_t rank = indices->shape.rank + 1;
  const int64_t axis = normal_axis(requested, rank, "one_hot");
  Shape line;
  for (int64_t i = axis; i < rank; ++i) line.append(i == axis ? depth : 1);
  return cast(Expr(expand_dims(indices, {axis})) == Expr(reshape(iota(depth), line)), dtype);
}

}  // namespace pullback
