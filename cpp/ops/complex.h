// Complex tensors: pairs of real ones from planning on (plan/passes/lower_complex.cpp). Gradients
// take the conjugate convention: that of a real loss L by z = x + iy is dL/dx + i dL/dy, so what is
// differentiable in the complex sense sends g times the conjugate of its derivative.
#pragma once

#include <span>

#include "ops/expr.h"

namespace pullback {

// Whether an elementwise operation is defined on complex operands.
bool has_complex_form(Op op);
// Whether its real operands stay real beside complex ones: what is multiplied by a real number
// meets no 0 * infinity, and keeps the signs of its zeros.
bool takes_real_operands(Op op);
// Of a dtype of numbers, the complex one that holds it.
DType complex_dtype(DType dtype);
// TypeError by `who` for a complex tensor.
void refuse_complex(const Node* x, const char* who);

// The cotangent of one input of a complex elementwise node, by `rule`, that of its row.
Cotangent complex_cotangent(const Node* node, size_t input, const Expr& g);
bool has_complex_rule(Op op);

// A complex value while planning: nodes of its parts. An operand that is real has no `im`.
struct Parts {
  NodeRef re, im;
};
// The parts of what an elementwise operation makes of operands in parts; of a result that is not
// complex, `re` alone.
Parts complex_form(Op op, std::span<const Parts> in);

// A complex value in float64, and what the functions do to it (ops/complex_functions.cpp).
struct ComplexPair {
  Expr re, im;
};
ComplexPair complex_function(Op op, const ComplexPair& a, const ComplexPair& b);

void complex_vjp(const VjpCall& call, Cotangent* out);
void real_vjp(const VjpCall& call, Cotangent* out);
void imag_vjp(const VjpCall& call, Cotangent* out);
void conj_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
