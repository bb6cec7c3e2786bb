// Expr: nodes with operators, so that a gradient rule reads like its formula.
//
// Numbers in an expression are weak scalars. A rule returns an Expr, `mask(m, e)` (the cotangent e
// where m is true, a structural zero elsewhere), `zero` or `none`.
#pragma once

#include <limits>

#include "ops/ops.h"

namespace pullback {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Expr {
  NodeRef node;
  Expr(NodeRef n) : node(std::move(n)) {}
  Expr(Node* n) : node(n) {}
  Expr(double value) : node(weak_constant(value)) {}
  operator const NodeRef&() const { return node; }
};

template <class... E>
Expr apply(Op op, const E&... inputs) {
  Node* nodes[] = {inputs.node.get()...};
  return elementwise(op, nodes);
}

namespace formula {

// Every row of elementwise.def as a function of Exprs.
#define UNARY(name, ...) \
  inline Expr name(const Expr& a) { return apply(Op::name, a); }
#define BINARY(name, ...) \
  inline Expr name(const Expr& a, const Expr& b) { return apply(Op::name, a, b); }
#define TERNARY(name, ...) \
  inline Expr name(const Expr& a, const Expr& b, const Expr& c) { return apply(Op::name, a, b, c); }
#include "graph/elementwise.def"

inline Cotangent mask(const Expr& condition, const Expr& value) {
  return {Cotangent::Value, value.node, condition.node};
}

inline Cotangent gated(const Expr& condition, const Expr& value) {
  return {Cotangent::Value, value.node, condition.node, true};
}

}  // namespace formula

inline Expr operator+(const Expr& a, const Expr& b) { return apply(Op::add, a, b); }
inline Expr operator-(const Expr& a, const Expr& b) { return apply(Op::subtract, a, b); }
inline Expr operator*(const Expr& a, const Expr& b) { return apply(Op::multiply, a, b); }
inline Expr operator/(const Expr& a, const Expr& b) { return apply(Op::divide, a, b); }
inline Expr operator-(const Expr& a) { return apply(Op::negative, a); }
inline Expr operator==(const Expr& a, const Expr& b) { return apply(Op::equal, a, b); }
inline Expr operator!=(const Expr& a, const Expr& b) { return apply(Op::not_equal, a, b); }
inline Expr operator<(const Expr& a, const Expr& b) { return apply(Op::less, a, b); }
inline Expr operator<=(const Expr& a, const Expr& b) { return apply(Op::less_equal, a, b); }
inline Expr operator>(const Expr& a, const Expr& b) { return apply(Op::greater, a, b); }
inline Expr operator>=(const Expr& a, const Expr& b) { return apply(Op::greater_equal, a, b); }
inline Expr operator&(const Expr& a, const Expr& b) { return apply(Op::logical_and, a, b); }
inline Expr operator|(const Expr& a, const Expr& b) { return apply(Op::logical_or, a, b); }
inline Expr operator!(const Expr& a) { return apply(Op::logical_not, a); }

namespace formula {

// x / b in the rule of a / b. If a is the number 1, a product with a / b, which is computed
// already.
inline Expr quotient(const Expr& x, const Expr& a, const Expr& b) {
  const Node& one = *a.node;
  const bool shared = one.op == Op::scalar && is_float(one.dtype) && one.scalar.f == 1;
  return shared ? x * (1.0 / b) : x / b;
}

}  // namespace formula

}  // namespace pullback
