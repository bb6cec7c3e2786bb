// Division, powers and transcendental functions of complex numbers, built from real operations on
// float64 parts.
//
// A complex64 result is rounded once, and its squares neither overflow nor cancel. The formulas
// have to handle the limits of complex128, infinities, and the signs of zeros, which select the
// sides of branch cuts (C99, Annex G).

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/complex.h"

namespace pullback {
namespace {

using namespace formula;
using Pair = ComplexPair;

constexpr double kPi = std::numbers::pi;
constexpr double kLn2 = 0.6931471805599453;
constexpr double kLn10 = 2.302585092994046;

// A number whose operands would not make it a float64.
Expr float64_scalar(double value) { return scalar(DType::Float64, value); }

Pair scaled(const Pair& z, const Expr& by) { return {z.re * by, z.im * by}; }
// i z and -i z.
Pair times_i(const Pair& z) { return {-z.im, z.re}; }
Pair times_minus_i(const Pair& z) { return {z.im, -z.re}; }
// a * b for factors that are 0 only at an exact zero: the product stays 0 beside infinity and NaN.
Expr times(const Expr& a, const Expr& b) {
  const Expr zero = ((a == 0.0) | (b == 0.0)) & !(isfinite(a) & isfinite(b));
  return where(zero, copysign(0.0, a) * copysign(1.0, b), a * b);
}

// Smith's quotient of operands whose sizes neither overflow nor underflow in it.
// `exact_ratio`: the ratio of the parts of b is 0 only if a part is 0 or infinite. Otherwise terms
// are computed in the order that keeps digits which the ratio loses (M. Baudin, R. L. Smith, "A
// robust complex division in Scilab", 2012).
Pair smith_quotient(const Pair& a, const Pair& b, bool exact_ratio) {
  // Requires |c| >= |d|: both operands are divided by -i if the imaginary part of b is larger.
  const Expr swap = abs(b.im) > abs(b.re);
  const Expr c = where(swap, b.im, b.re);
  const Expr d = where(swap, -b.re, b.im);
  const Expr p = where(swap, a.im, a.re);
  const Expr q = where(swap, -a.re, a.im);
  const Expr ratio = where(c == 0.0, 0.0, d / c);
  const Expr under = c + d * ratio;
  const auto part = [&](const Expr& first, const Expr& second, const Expr& sign) {
    Expr term = second * ratio;
    if (!exact_ratio) term = where(ratio == 0.0, d * (second / c), term);
    return where(d == 0.0, first, first + sign * term) / under;
  };
  return {part(p, q, 1.0), part(q, p, -1.0)};
}

// As in C: a finite number over infinity is 0, over 0 it is infinite.
Pair with_limits(const Pair& a, const Pair& b, const Pair& out) {
  const Expr to_zero = isfinite(a.re) & isfinite(a.im) & (isinf(b.re) | isinf(b.im));
  const Expr by_zero = (b.re == 0.0) & (b.im == 0.0);
  const Expr over = copysign(kInfinity, b.re);
  return {where(to_zero, 0.0, where(by_zero, a.re * over, out.re)),
          where(to_zero, 0.0, where(by_zero, a.im * over, out.im))};
}

// The operands are scaled to the middle of the range.
Pair quotient(const Pair& x, const Pair& y) {
  const auto size = [](const Pair& z) { return maximum(abs(z.re), abs(z.im)); };
  const Expr top = size(x);
  const Expr bottom = size(y);
  // Scales by powers of two; an infinity stays one.
  const auto shrink = [](const Expr& size) {
    return where(size > 0x1p1021, 0.25, where(size < 0x1p-900, float64_scalar(0x1p110), 1.0));
  };
  const Expr shrink_x = shrink(top);
  const Expr shrink_y = shrink(bottom);
  const Pair a = scaled(x, shrink_x);
  const Pair b = scaled(y, shrink_y);
  return with_limits(a, b, scaled(smith_quotient(a, b, false), shrink_y / shrink_x));
}

// The exact rounding error of a floating-point product (T. J. Dekker, 1971).
Expr square_error(const Expr& x, const Expr& squared) {
  const Expr big = x * 134217729.0;
  const Expr high = big - (big - x);
  const Expr low = x - high;
  return ((high * high - squared) + 2.0 * (high * low)) + low * low;
}

// log|1 + e| from |1 + e|^2 - 1 = (2 x + x^2) + y^2. These terms cancel, so they are added without
// rounding errors.
Expr log_beside_one(const Expr& x, const Expr& y) {
  const Expr xx = x * x;
  const Expr yy = y * y;
  const auto sum = [](const Expr& a, const Expr& b, Expr* error) {
    Expr s = a + b;
    const Expr t = s - a;
    *error = *error + ((a - (s - t)) + (b - t));
    return s;
  };
  Expr error = square_error(x, xx) + square_error(y, yy);
  // Largest terms first.
  const Expr first = sum(2.0 * x, where(abs(x) > abs(y), xx, yy), &error);
  const Expr all = sum(first, where(abs(x) > abs(y), yy, xx), &error);
  return 0.5 * log1p(all + error);
}

Expr log_of_size(const Pair& z) {
  const Expr re = abs(z.re);
  const Expr im = abs(z.im);
  const Expr large = maximum(re, im);
  const Expr small = minimum(re, im);
  const Expr beside = (large > 0.5) & (large < 2.0) & (hypot(re, im) < 2.0);
  const Expr scale =
      where(large > 0x1p1021, 0.25, where(large < 0x1p-1000, float64_scalar(0x1p60), 1.0));
  const Expr shift = where(large > 0x1p1021, 2.0 * kLn2,
                           where(large < 0x1p-1000, float64_scalar(-60.0 * kLn2), 0.0));
  // The difference to 1 is exact between 0.5 and 2.
  const Expr near = where(beside, large, 1.0) - 1.0;
  return where(beside, log_beside_one(near, where(beside, small, 0.0)),
               log(hypot(re * scale, im * scale)) + shift);
}

Pair log_form(const Pair& z) { return {log_of_size(z), atan2(z.im, z.re)}; }

Pair log1p_form(const Pair& z) {
  const Expr near = (abs(z.re) < 0.5) & (abs(z.im) < 1.5);
  const Expr re = where(near, log_beside_one(where(near, z.re, 0.0), where(near, z.im, 0.0)),
                        log_of_size({1.0 + z.re, z.im}));
  return {re, atan2(z.im, 1.0 + z.re)};
}

// e^x as a product: e^(x - 64) and e^64 if e^x alone may be out of range while its product with
// another factor is not.
struct Exponential {
  Expr size, rest;
};
Exponential exponential(const Expr& x) {
  const Expr far = (x > 709.0) & (x < 1500.0);
  return {exp(where(far, x - 64.0, x)), where(far, float64_scalar(0x1.425982cf597cdp92), 1.0)};
}

// e (cos angle + i sin angle), where e is the exponential of x.
Pair at_angle(const Expr& x, const Exponential& e, const Expr& angle) {
  // The absolute value is known even if the angle is not.
  const Expr turns = isinf(x) & !isfinite(angle);
  const Expr zero = turns & (x < 0.0);
  return {
      where(turns, where(zero, 0.0, x), e.size * cos(angle) * e.rest),
      where(zero, copysign(0.0, angle), where(angle == 0.0, angle, e.size * sin(angle) * e.rest))};
}

Pair exp_form(const Pair& z) { return at_angle(z.re, exponential(z.re), z.im); }
Pair exp2_form(const Pair& z) {
  return at_angle(z.re, {exp2(z.re), float64_scalar(1.0)}, z.im * kLn2);
}

Pair expm1_form(const Pair& z) {
  const Expr half = sin(0.5 * z.im);
  const Pair all = exp_form(z);
  const Expr re = expm1(z.re) * cos(z.im) - 2.0 * (half * half);
  return {where(abs(z.re) < 30.0, re, all.re - 1.0), all.im};
}

// By halves of |z| + |x| (W. Kahan, "Branch cuts for complex elementary functions", 1987).
Pair sqrt_form(const Pair& z) {
  const Expr large = maximum(abs(z.re), abs(z.im));
  const Expr big = large > 0x1p1020;
  const Expr tiny = large < 0x1p-900;
  const Expr scale = where(big, 0.0625, where(tiny, float64_scalar(0x1p120), 1.0));
  const Expr back = where(big, 4.0, where(tiny, float64_scalar(0x1p-60), 1.0));
  const Expr x = abs(z.re) * scale;
  const Expr y = z.im * scale;
  const Expr root = sqrt(0.5 * (x + hypot(x, y)));
  const Expr other = where(root == 0.0, abs(y), abs(y) / (2.0 * root));
  const Expr right = !signbit(z.re);
  const Expr endless = isinf(z.im);
  return {where(endless, kInfinity, where(right, root, other) * back),
          where(endless, z.im, copysign(where(right, other, root) * back, z.im))};
}

// sinh x and cosh x, which may be out of range as well.
struct Hyperbolic {
  Expr sinh, cosh, rest;
};
Hyperbolic hyperbolic(const Expr& x) {
  const Exponential e = exponential(abs(x));
  const Expr far = e.rest != 1.0;
  const Expr half = 0.5 * e.size;
  // abs: the sign of a NaN depends on the instruction set; the sign of its product with zero must
  // not.
  return {where(far, copysign(half, x), sinh(x)), abs(where(far, half, cosh(x))), e.rest};
}

Pair sinh_form(const Pair& z) {
  const Hyperbolic h = hyperbolic(z.re);
  const Expr turns = isinf(z.re) & !isfinite(z.im);
  return {where(turns, z.re, times(h.sinh, cos(z.im)) * h.rest), times(sin(z.im), h.cosh) * h.rest};
}
Pair cosh_form(const Pair& z) {
  const Hyperbolic h = hyperbolic(z.re);
  const Expr turns = isinf(z.re) & !isfinite(z.im);
  return {where(turns, abs(z.re), times(h.cosh, cos(z.im)) * h.rest),
          times(h.sinh, sin(z.im)) * h.rest};
}
Pair sin_form(const Pair& z) { return times_minus_i(sinh_form(times_i(z))); }
Pair cos_form(const Pair& z) { return cosh_form(times_i(z)); }

// Kahan's formula, from the slope of the tangent. For large |x| the real part is 1 and the
// imaginary part decays.
Pair tanh_form(const Pair& z) {
  const Expr far = abs(z.re) > 20.0;
  const Expr x = where(far, 0.0, z.re);
  const Expr t = tan(z.im);
  const Expr slope = 1.0 + t * t;
  const Expr s = sinh(x);
  const Expr under = 1.0 + slope * (s * s);
  const Expr decay = 2.0 * sin(2.0 * z.im) * exp(-2.0 * abs(z.re));
  const Expr turns = !isfinite(z.im);
  const Expr still = isinf(z.re) & turns;
  // On the imaginary axis the real part is 0 (C11, Annex G with DR 471).
  const Expr axis = (z.re == 0.0) & turns;
  const Expr re = where(axis, z.re, slope * cosh(x) * s / under);
  return {
      where(far, copysign(1.0, z.re), re),
      where(z.im == 0.0, z.im, where(far, where(still, copysign(0.0, z.im), decay), t / under))};
}

// Inverse functions, also Kahan's.
Pair plus_one(const Pair& z) { return {1.0 + z.re, z.im}; }
Pair one_minus(const Pair& z) { return {1.0 - z.re, -z.im}; }
// The imaginary part of conj(a) b, and the real part of a b.
Expr cross(const Pair& a, const Pair& b) { return a.re * b.im - a.im * b.re; }
Expr real_product(const Pair& a, const Pair& b) { return a.re * b.re - a.im * b.im; }

Expr endless(const Pair& z) { return isinf(z.re) | isinf(z.im); }

Pair asin_form(const Pair& z) {
  const Pair below = sqrt_form(one_minus(z));
  const Pair above = sqrt_form(plus_one(z));
  const Expr far = endless(z);
  return {where(z.re == 0.0, z.re, atan2(z.re, where(far, abs(z.im), real_product(below, above)))),
          where(far, copysign(kInfinity, z.im), asinh(cross(below, above)))};
}
Pair acos_form(const Pair& z) {
  const Pair below = sqrt_form(one_minus(z));
  const Pair above = sqrt_form(plus_one(z));
  const Expr far = endless(z);
  const Expr half = where(z.re == 0.0, float64_scalar(0.25 * kPi), atan2(below.re, above.re));
  return {where(far, atan2(abs(z.im), z.re), 2.0 * half),
          where(far, copysign(kInfinity, -z.im), asinh(cross(above, below)))};
}
Pair acosh_form(const Pair& z) {
  const Pair below = sqrt_form({z.re - 1.0, z.im});
  const Pair above = sqrt_form(plus_one(z));
  const Expr far = endless(z);
  const Expr half = where(z.re == 0.0, copysign(0.25 * kPi, z.im), atan2(below.im, above.re));
  return {where(far, kInfinity, asinh(below.re * above.re + below.im * above.im)),
          where(far, atan2(z.im, z.re), 2.0 * half)};
}
Pair asinh_form(const Pair& z) { return times_minus_i(asin_form(times_i(z))); }

Pair atanh_form(const Pair& z) {
  const Expr far = endless(z) | (maximum(abs(z.re), abs(z.im)) > 0x1p500);
  const Expr x = where(far, 0.0, z.re);
  const Expr y = where(far, 0.0, z.im);
  const Expr yy = y * y;
  const Expr away = 1.0 - abs(x);
  // Near a pole squares underflow.
  const Expr distance = hypot(away, y);
  const Expr size = where(distance < 0x1p-400, 0.5 * (kLn2 - log(distance)),
                          0.25 * log1p(4.0 * abs(x) / (away * away + yy)));
  const Expr re = where(x == 0.0, x, copysign(size, z.re));
  const Expr im = 0.5 * atan2(2.0 * y, away * (1.0 + abs(x)) - yy);
  const Expr whole = hypot(z.re * 0x1p-600, z.im * 0x1p-600);
  const Expr decay =
      where(isinf(whole), copysign(0.0, z.re), z.re * 0x1p-600 / whole / whole * 0x1p-600);
  const Expr quarter = where(isnan(z.im), z.im, copysign(0.5 * kPi, z.im));
  return {where(far, decay, re), where(far, quarter, im)};
}
Pair atan_form(const Pair& z) { return times_minus_i(atanh_form(times_i(z))); }

// |a|^re(b) e^(-im(b) angle), rotated by im(b) log|a| + re(b) angle.
Pair pow_form(const Pair& a, const Pair& b) {
  const Expr size = hypot(a.re, a.im);
  const Expr angle = atan2(a.im, a.re);
  const Expr is_real = b.im == 0.0;
  const Expr turn = b.re * angle + where(is_real, 0.0, b.im * log_of_size(a));
  const Expr length =
      where(is_real, pow(size, b.re), pow(size, b.re) * exp(-where(is_real, 0.0, b.im) * angle));
  const Expr one = (b.re == 0.0) & is_real;
  const Expr zero = (size == 0.0) & (b.re > 0.0);
  const Expr re = where(zero, 0.0, length * cos(turn));
  const Expr im = where(zero | (turn == 0.0), 0.0, length * sin(turn));
  return {where(one, 1.0, re), where(one, 0.0, im)};
}

Pair reciprocal_form(const Pair& z) {
  return quotient({float64_scalar(1.0), float64_scalar(0.0)}, z);
}

}  // namespace

ComplexPair complex64_quotient(const ComplexPair& a, const ComplexPair& b) {
  return with_limits(a, b, smith_quotient(a, b, true));
}

ComplexPair complex_function(Op op, const ComplexPair& a, const ComplexPair& b) {
  switch (op) {
    case Op::divide:
      return quotient(a, b);
    case Op::pow:
      return pow_form(a, b);
    case Op::exp:
      return exp_form(a);
    case Op::expm1:
      return expm1_form(a);
    case Op::exp2:
      return exp2_form(a);
    case Op::log:
      return log_form(a);
    case Op::log1p:
      return log1p_form(a);
    case Op::log2:
      return scaled(log_form(a), 1.0 / kLn2);
    case Op::log10:
      return scaled(log_form(a), 1.0 / kLn10);
    case Op::sqrt:
      return sqrt_form(a);
    case Op::rsqrt:
      return reciprocal_form(sqrt_form(a));
    case Op::sin:
      return sin_form(a);
    case Op::cos:
      return cos_form(a);
    case Op::tan:
      return times_minus_i(tanh_form(times_i(a)));
    case Op::sinh:
      return sinh_form(a);
    case Op::cosh:
      return cosh_form(a);
    case Op::tanh:
      return tanh_form(a);
    case Op::asin:
      return asin_form(a);
    case Op::acos:
      return acos_form(a);
    case Op::atan:
      return atan_form(a);
    case Op::asinh:
      return asinh_form(a);
    case Op::acosh:
      return acosh_form(a);
    case Op::atanh:
      return atanh_form(a);
    default:
      fail(ErrorKind::Runtime, name_of(op), ": its row allows complex numbers, but it has no form");
  }
}

}  // namespace pullback
