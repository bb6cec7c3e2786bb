// Adds contributions to a cotangent. Masks are kept separate while they agree, otherwise they are
// united. The cotangent of a slice or a take covers a part of the tensor, and is added there at the
// cost of that part. Broadcast axes are summed.
#include "grad/adjoint.h"

#include <algorithm>

#include "ops/expr.h"

namespace pullback {
namespace {

// True for a node that is zero except for its input at some place: the cotangent of a slice or
// take. False for sealed nodes, whose input is unknown, and for nodes with an override.
bool is_partial(const Node* node) {
  return (node->op == Op::embed || node->op == Op::scatter_add) && node->inputs_count > 0 &&
         !node->rule;
}

// True if two nodes put inputs of one shape at the same place.
bool same_place(const Node* a, const Node* b, const Node* a_part, const Node* b_part) {
  if (!(a_part->shape == b_part->shape)) return false;
  if (a->slice && b->slice) {
    return *a->slice == *b->slice;
  }
  return !a->slice && !b->slice && a->attr.axis == b->attr.axis &&
         a->in[a->inputs_count - 1] == b->in[b->inputs_count - 1];
}

// Adds `part` to `base` at the place where `like` puts its input.
NodeRef add_partial(const NodeRef& base, const NodeRef& part, const Node* like) {
  if (like->slice) return at_slice(base, part, *like->slice, Update::Add);
  return at_index(base, part, like->in[like->inputs_count - 1], like->attr.axis, Update::Add,
                  false);
}

// A sum at the cost of its smaller operand, if that covers a part of the other. `rows`:
// contributions of takes are not summed.
NodeRef sum_of(const NodeRef& sum, const NodeRef& more, bool rows) {
  if (!is_partial(more.get())) {
    return is_partial(sum.get()) ? sum_of(more, sum, rows) : NodeRef(Expr(sum) + Expr(more));
  }
  const NodeRef part = more->in[0];
  if (rows && !more->slice) return add_partial(sum, part, more.get());
  if (is_partial(sum.get()) && same_place(sum.get(), more.get(), sum->in[0], part.get())) {
    const Expr both = Expr(sum->in[0]) + Expr(part);
    if (more->slice) return embed(both, more->shape, *more->slice);
    return scatter_add(both, more->in[1], more->attr.axis, more->shape[more->attr.axis]);
  }
  const bool added = (sum->op == Op::at_slice || sum->op == Op::at_index) && !sum->rule &&
                     sum->inputs_count > 0 && sum->attr.update == Update::Add;
  if (added && same_place(sum.get(), more.get(), sum->in[1], part.get())) {
    return add_partial(sum->in[0], Expr(sum->in[1]) + Expr(part), more.get());
  }
  return add_partial(sum, part, more.get());
}

// Sums g over broadcast axes. If g is a product whose rows are summed, only the rows of the left
// operand are summed, before a product with one row.
NodeRef summed(const NodeRef& g, const Shape& shape) {
  const int64_t rank = g->shape.rank;
  const bool known = g->has_value() || g->rule;
  if (!known && g->op == Op::negative && g->inputs_count == 1) {
    return -Expr(summed(NodeRef(g->in[0]), shape));
  }
  if (known || g->op != Op::matmul || g->inputs_count != 2 || !is_float(g->dtype) ||
      shape.rank == 0 || shape[shape.rank - 1] != g->shape[rank - 1] ||
      (shape.rank > 1 && shape[shape.rank - 2] != 1)) {
    return sum_to(g, shape);
  }
  Shape row = g->in[0]->shape;
  row[row.rank - 2] = 1;
  return sum_to(matmul(sum_to(NodeRef(g->in[0]), row), NodeRef(g->in[1])), shape);
}

}  // namespace

void Adjoint::add(Cotangent c, const Shape& shape, Zeros zeros, FactoredMask nonzero) {
  if (c.kind == Cotangent::None) return;
  if (c.kind == Cotangent::Zero) {
    if (kind_ == Cotangent::None) kind_ = Cotangent::Zero;
    return;
  }
  nonzero.intersect(c.mask);
  if (!(c.value->shape == shape) || zeros == Zeros::Drop) {
    c.value = dense_of(c.value, nonzero, c.clean);
    c.clean = true;
    if (zeros == Zeros::Drop) nonzero = {};
    if (!nonzero.everywhere()) {
      nonzero = nonzero.summed(c.value->shape, shape, zeros >= Zeros::Keep);
    }
    if (!(c.value->shape == shape)) c.value = summed(c.value, shape);
  }
  if (kind_ != Cotangent::Value) {
    kind_ = Cotangent::Value;
    clean_ = c.clean;
    value_ = std::move(c.value);
    if (!nonzero.everywhere()) masks_.push_back(std::move(nonzero));
    return;
  }
  if (nonzero.everywhere() || masks_.empty()) {
    value_ = sum_of(dense(), dense_of(c.value, nonzero, c.clean), rows_);
    return;
  }
  if (masks_.size() == 1) {
    if (masks_[0] == nonzero) {
      value_ = Expr(value_) + Expr(c.value);
      clean_ &= c.clean;
      return;
    }
    const auto choice = clean_ || c.clean ? std::nullopt : choice_between(masks_[0], nonzero);
    if (choice) {
      value_ = formula::where(Expr(choice->condition), Expr(value_), Expr(c.value));
      masks_.clear();
      if (!choice->both.everywhere()) masks_.push_back(choice->both);
      return;
    }
    value_ = dense_of(value_, masks_[0], clean_);
  }
  value_ = sum_of(value_, dense_of(c.value, nonzero, c.clean), rows_);
  clean_ = true;
  masks_.push_back(std::move(nonzero));
}

const FactoredMask& Adjoint::nonzero() {
  static const FactoredMask everywhere;
  if (masks_.size() > 1) {
    FactoredMask all = unite(masks_);
    masks_.clear();
    if (!all.everywhere()) masks_.push_back(std::move(all));
  }
  return masks_.empty() ? everywhere : masks_[0];
}

NodeRef Adjoint::dense() {
  if (kind_ != Cotangent::Value) return nullptr;
  if (!masks_.empty()) value_ = dense_of(value_, masks_[0], clean_);
  masks_.clear();
  clean_ = true;
  return value_;
}

NodeRef with_history(NodeRef derivative) {
  if (derivative == nullptr || derivative->tracked()) return derivative;
  NodeRef out = identity(derivative);
  out->flags |= kTracked;
  return out;
}

}  // namespace pullback
