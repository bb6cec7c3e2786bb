#include "grad/adjoint.h"

#include "ops/expr.h"

namespace pullback {
namespace {

Ref<Node> dense_of(const Cotangent& c) {
  if (c.mask == nullptr || c.clean) return c.value;
  return formula::where(Expr(c.mask), Expr(c.value), scalar(c.value->dtype, 0));
}

}  // namespace

Cotangent masked(const Cotangent& c, const Ref<Node>& mask) {
  if (c.mask == nullptr || c.mask == mask) return {c.kind, c.value, mask};
  return {c.kind, c.value, formula::logical_and(Expr(c.mask), Expr(mask))};
}

void Adjoint::add(const Cotangent& contribution, const Shape& shape) {
  if (contribution.kind == Cotangent::None) return;
  if (contribution.kind == Cotangent::Zero) {
    if (sum_.kind == Cotangent::None) sum_.kind = Cotangent::Zero;
    return;
  }
  Cotangent c = contribution;
  if (!(c.value->shape == shape) || (c.mask && !(c.mask->shape == shape))) {
    c = {Cotangent::Value, sum_to(dense_of(c), shape), nullptr};
  }
  if (sum_.kind != Cotangent::Value) {
    sum_ = std::move(c);
  } else if (sum_.mask && sum_.mask == c.mask) {
    sum_.value = Expr(sum_.value) + Expr(c.value);
    sum_.clean &= c.clean;
  } else {
    sum_ = {Cotangent::Value, Expr(dense()) + Expr(dense_of(c)), nullptr};
  }
}

Ref<Node> Adjoint::dense() {
  if (sum_.kind != Cotangent::Value) return nullptr;
  if (sum_.mask) sum_ = {Cotangent::Value, dense_of(sum_), nullptr};
  return sum_.value;
}

}  // namespace pullback
