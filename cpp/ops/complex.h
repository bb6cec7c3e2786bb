// Complex tensors, which the planner replaces by pairs of real ones
// (plan/passes/lower_complex.cpp).
//
// Gradients follow the conjugate convention: the gradient of a real loss L with respect to z = x +
// iy is dL/dx + i dL/dy, so the rule of a holomorphic function multiplies g by the conjugate of its
// derivative.
#pragma once

#include <optional>
#include <span>

#include "ops/expr.h"

namespace pullback {

// True if a real operand stays real beside a complex one. So a product with a real number has no 0
// * infinity, and keeps the signs of zeros.
bool takes_real_operands(Op op);
// The complex dtype for the parts of a real dtype.
DType complex_dtype(DType dtype);
// Raises TypeError for a complex tensor, with `who` in the text.
void refuse_complex(const Node* x, const char* who);

// The cotangent of one input of a complex elementwise node, if the rule of its row holds for real
// numbers only; a, b, y are the conjugates of its operands and its result.
std::optional<Cotangent> complex_cotangent(const Node* node, size_t input, const Expr& g,
                                           const Expr& a, const Expr& b, const Expr& y);

// A complex value in the planner: the nodes of its parts. `im` is null for a real operand.
struct ComplexParts {
  NodeRef re, im;
};
// Applies an elementwise operation to operands in parts; a real result is returned in `re`.
ComplexParts complex_form(Op op, std::span<const ComplexParts> in);

// A complex value with float64 parts, and the functions of it (ops/complex_functions.cpp).
struct ComplexPair {
  Expr re, im;
};
ComplexPair complex_function(Op op, const ComplexPair& a, const ComplexPair& b);
// The quotient of complex64 operands.
ComplexPair complex64_quotient(const ComplexPair& a, const ComplexPair& b);

void complex_vjp(const VjpCall& call, Cotangent* out);
void real_vjp(const VjpCall& call, Cotangent* out);
void imag_vjp(const VjpCall& call, Cotangent* out);
void conj_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
