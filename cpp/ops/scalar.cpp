// Scalar nodes: weak scalars (Python numbers), whose dtype is resolved beside a neighbour, and
// numbers of formulas.

#include <string>

#include "base/error.h"
#include "graph/make.h"
#include "ops/complex.h"
#include "ops/ops.h"

namespace pullback {

NodeRef weak_scalar(double value) {
  Scalar s;
  s.f = value;
  return make_scalar(default_float(), s, kWeak);
}

NodeRef weak_constant(double value) {
  NodeRef out = weak_scalar(value);
  out->flags |= kConstant;
  return out;
}

NodeRef weak_scalar(int64_t value) {
  Scalar s;
  s.i = value;
  return make_scalar(DType::Int64, s, kWeak);
}

NodeRef scalar(DType dtype, double value) {
  if (is_complex(dtype)) {
    const DType part = traits(dtype).compute;
    return make_complex(scalar(part, value), scalar(part, 0));
  }
  Scalar s;
  s.f = value;
  return make_scalar(dtype, convert_scalar(s, DType::Float64, dtype), kConstant);
}

DType natural_dtype(const Node* x) {
  if (!(x->flags & kWeak)) return x->dtype;
  if (is_complex(x->dtype)) return complex_dtype(default_float());
  return is_float(x->dtype) ? default_float() : x->dtype;
}

NodeRef resolve_weak(const NodeRef& x, DType dtype) {
  if (x->op == Op::complex && is_complex(dtype)) {
    const DType part = traits(dtype).compute;
    return make_complex(resolve_weak(x->in[0], part), resolve_weak(x->in[1], part));
  }
  if (x->op != Op::scalar) return cast(x, dtype);
  if (is_complex(dtype)) return cast(resolve_weak(x, traits(dtype).compute), dtype);
  const uint8_t constant = x->flags & kConstant;
  if (x->dtype == dtype) return make_scalar(dtype, x->scalar, constant);
  const bool large = x->dtype == DType::UInt64 && dtype != DType::UInt64 && is_integer(dtype);
  if (large || (x->dtype == DType::Int64 && !fits(x->scalar.i, dtype))) {
    const auto bits = static_cast<uint64_t>(x->scalar.i);
    fail(ErrorKind::Overflow, "the Python integer ",
         large ? std::to_string(bits) : std::to_string(x->scalar.i), " does not fit in ", dtype);
  }
  // A weak float keeps full precision until the dtype of its neighbour is known.
  const DType from = is_float(x->dtype) ? DType::Float64 : x->dtype;
  return make_scalar(dtype, convert_scalar(x->scalar, from, dtype), constant);
}

}  // namespace pullback
