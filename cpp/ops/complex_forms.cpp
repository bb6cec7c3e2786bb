// Elementwise operations on real and imaginary parts, built from real operations. Called by the
// planner (plan/passes/lower_complex.cpp), so nothing here is differentiated. Functions that need
// float64 parts are in complex_functions.cpp.

#include <limits>

#include "ops/complex.h"

namespace pullback {
namespace {

using namespace formula;

// Operands may be real beside complex ones.
ComplexParts sum_of(const ComplexParts& a, const ComplexParts& b) {
  const Expr re = Expr(a.re) + Expr(b.re);
  if (a.im && b.im) return {re, Expr(a.im) + Expr(b.im)};
  return {re, a.im ? a.im : b.im};
}
ComplexParts difference_of(const ComplexParts& a, const ComplexParts& b) {
  const Expr re = Expr(a.re) - Expr(b.re);
  if (a.im && b.im) return {re, Expr(a.im) - Expr(b.im)};
  return {re, a.im ? a.im : NodeRef(-Expr(b.im))};
}
ComplexParts product_of(const ComplexParts& a, const ComplexParts& b) {
  if (!b.im.get()) return {Expr(a.re) * Expr(b.re), Expr(a.im) * Expr(b.re)};
  if (!a.im.get()) return {Expr(a.re) * Expr(b.re), Expr(a.re) * Expr(b.im)};
  const Expr are = a.re, aim = a.im, bre = b.re, bim = b.im;
  return {are * bre - aim * bim, are * bim + aim * bre};
}

// Squares of float32 parts cannot overflow in float64. An infinite part has priority over NaN.
Expr size_of_pair(const ComplexParts& z) {
  if (z.re->dtype == DType::Float64) return hypot(Expr(z.re), Expr(z.im));
  const Expr re = cast(z.re, DType::Float64);
  const Expr im = cast(z.im, DType::Float64);
  const Expr size = cast(sqrt(re * re + im * im), z.re->dtype);
  return where(isinf(Expr(z.re)) | isinf(Expr(z.im)), std::numeric_limits<double>::infinity(),
               size);
}

}  // namespace

bool takes_real_operands(Op op) {
  return op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::divide;
}

ComplexParts complex_form(Op op, std::span<const ComplexParts> in) {
  const ComplexParts& a = in[0];
  const ComplexParts& b = in[in.size() > 1];
  const auto both = [&](Op each) -> ComplexParts {
    return {apply(each, Expr(a.re)), apply(each, Expr(a.im))};
  };
  switch (op) {
    case Op::add:
      return sum_of(a, b);
    case Op::subtract:
      return difference_of(a, b);
    case Op::multiply:
      return product_of(a, b);
    case Op::negative:
    case Op::round:
      return both(op);
    case Op::square:
      return {(Expr(a.re) - Expr(a.im)) * (Expr(a.re) + Expr(a.im)),
              2.0 * (Expr(a.re) * Expr(a.im))};
    case Op::abs:
      return {size_of_pair(a), nullptr};
    case Op::sign:
      return {cosine_of(Expr(a.re), Expr(a.im)), cosine_of(Expr(a.im), Expr(a.re))};
    case Op::where:
      return {where(Expr(a.re), Expr(b.re), Expr(in[2].re)),
              where(Expr(a.re), Expr(b.im), Expr(in[2].im))};
    case Op::equal:
    case Op::same:
      return {apply(op, Expr(a.re), Expr(b.re)) & apply(op, Expr(a.im), Expr(b.im)), nullptr};
    case Op::not_equal:
      return {(Expr(a.re) != Expr(b.re)) | (Expr(a.im) != Expr(b.im)), nullptr};
    case Op::isnan:
    case Op::isinf:
      return {apply(op, Expr(a.re)) | apply(op, Expr(a.im)), nullptr};
    case Op::isfinite:
      return {isfinite(Expr(a.re)) & isfinite(Expr(a.im)), nullptr};
    default:
      break;
  }
  const DType own = a.re->dtype;
  if (op == Op::divide && !b.im.get()) return {Expr(a.re) / Expr(b.re), Expr(a.im) / Expr(b.re)};
  const auto widened = [](const ComplexParts& x) -> ComplexPair {
    return {cast(x.re, DType::Float64),
            x.im ? cast(x.im, DType::Float64) : scalar(DType::Float64, 0)};
  };
  // Parts of float32 are in the middle of the range of float64.
  const bool narrow = op == Op::divide && own == DType::Float32;
  const ComplexPair out = narrow ? complex64_quotient(widened(a), widened(b))
                                 : complex_function(op, widened(a), widened(b));
  return {cast(out.re, own), cast(out.im, own)};
}

}  // namespace pullback
