// Builders of complex tensors and their parts, and the gradient rules of complex operands. The
// rules are those of the real rows, with conjugates (complex_cotangent); some operations have their
// own.

#include "ops/complex.h"

#include "base/error.h"
#include "graph/make.h"

namespace pullback {

using namespace formula;

DType complex_dtype(DType dtype) {
  if (is_complex(dtype)) return dtype;
  if (!is_float(dtype)) dtype = default_float();
  return dtype == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

NodeRef make_complex(const NodeRef& re, const NodeRef& im) {
  const DType dtype = promote(natural_dtype(re.get()), natural_dtype(im.get()));
  if (is_complex(dtype)) {
    fail(ErrorKind::Type, "complex: expected real numbers for the parts, got ", re->dtype, " and ",
         im->dtype);
  }
  const DType part = traits(complex_dtype(dtype)).compute;
  const auto as_part = [&](const NodeRef& x) {
    return x->flags & kWeak ? resolve_weak(x, part) : cast(x, part);
  };
  const NodeRef parts[] = {as_part(re), as_part(im)};
  Node* inputs[] = {parts[0].get(), parts[1].get()};
  Shape shape;
  if (!broadcast(re->shape, im->shape, &shape)) {
    fail(ErrorKind::Value, "complex: shapes ", re->shape, " and ", im->shape, " do not broadcast");
  }
  return make_node(Op::complex, complex_dtype(dtype), shape, inputs);
}

NodeRef weak_complex(double re, double im) {
  NodeRef parts[] = {weak_scalar(re), weak_scalar(im)};
  Node* inputs[] = {parts[0].get(), parts[1].get()};
  NodeRef out = make_node(Op::complex, complex_dtype(default_float()), {}, inputs);
  out->flags |= kWeak;
  return out;
}

namespace {

NodeRef part(Op op, const NodeRef& z) {
  const DType dtype = op == Op::conj ? z->dtype : traits(z->dtype).compute;
  NodeRef out = make_node(op, dtype, z->shape, pointers({&z, 1}));
  out->flags |= z->flags & kWeak;  // a weak number that is an argument of a traced function
  return out;
}

}  // namespace

NodeRef real_part(const NodeRef& z) { return is_complex(z->dtype) ? part(Op::real, z) : z; }
NodeRef imaginary_part(const NodeRef& z) {
  return is_complex(z->dtype) ? part(Op::imag, z) : zeros(z->shape, z->dtype);
}
NodeRef conjugate(const NodeRef& z) { return is_complex(z->dtype) ? part(Op::conj, z) : z; }

void refuse_complex(const Node* x, const char* who) {
  if (!is_complex(x->dtype)) return;
  fail(ErrorKind::Type, who, ": expected real numbers, got a complex dtype; use real(x) or abs(x)");
}

// --- rules

void complex_vjp(const VjpCall& call, Cotangent* out) {
  if (call.live[0]) out[0] = {Cotangent::Value, real_part(call.g), nullptr};
  if (call.live[1]) out[1] = {Cotangent::Value, imaginary_part(call.g), nullptr};
}

void real_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, cast(call.g, call.node->in[0]->dtype), nullptr};
}

void imag_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, make_complex(scalar(call.g->dtype, 0), call.g), nullptr};
}

void conj_vjp(const VjpCall& call, Cotangent* out) {
  out[0] = {Cotangent::Value, conjugate(call.g), nullptr};
}

namespace {

// i z.
Expr times_i(const Expr& z) { return make_complex(-Expr(imaginary_part(z)), real_part(z)); }

// The derivative of tanh: written so that cosh cannot overflow.
Expr tanh_slope_at(const Expr& a) {
  const Expr e = exp(-2.0 * where(Expr(real_part(a)) < 0.0, -a, a));
  return 4.0 * e / square(1.0 + e);
}

}  // namespace

// Derivatives are evaluated at the conjugates, which gives the conjugates of those at the operands.
std::optional<Cotangent> complex_cotangent(const Node* node, size_t input, const Expr& g,
                                           const Expr& a, const Expr& b, const Expr& y) {
  const auto value = [](const Expr& e) { return Cotangent{Cotangent::Value, e.node, nullptr}; };
  switch (node->op) {
    case Op::sign: {  // z / |z| changes only with the angle of z
      const Expr size = abs(Expr(node->in[0]));
      const Expr turn = imaginary_part(y * g);
      const Expr along = make_complex(scalar(size.node->dtype, 0), turn / size);
      return mask(size != 0.0, Expr(const_cast<Node*>(node)) * along);
    }
    case Op::pow:
      if (input == 0) return mask(b != 0.0, g * (b * pow(a, b - 1.0)));
      return mask(a != 0.0, g * (y * log(a)));
    case Op::log:
      return value(g / a);
    case Op::log1p:
      return value(g / (1.0 + a));
    case Op::log2:
      return value(g / (0.6931471805599453 * a));
    case Op::log10:
      return value(g / (2.302585092994046 * a));
    case Op::sqrt:
      return value(g / (2.0 * y));
    case Op::rsqrt:
      return value(g * (-0.5 * y / a));
    case Op::tan:
      return value(g * tanh_slope_at(times_i(a)));
    case Op::tanh:
      return value(g * tanh_slope_at(a));
    case Op::asin:
      return value(g / (sqrt(1.0 - a) * sqrt(1.0 + a)));
    case Op::acos:
      return value(-(g / (sqrt(1.0 - a) * sqrt(1.0 + a))));
    case Op::atan:
      return value(g / ((1.0 - times_i(a)) * (1.0 + times_i(a))));
    case Op::asinh:
      return value(g / (sqrt(1.0 - times_i(a)) * sqrt(1.0 + times_i(a))));
    case Op::acosh:
      return value(g / (sqrt(a - 1.0) * sqrt(a + 1.0)));
    case Op::atanh:
      return value(g / ((1.0 - a) * (1.0 + a)));
    default:
      return std::nullopt;
  }
}

}  // namespace pullback
