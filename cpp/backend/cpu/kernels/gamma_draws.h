// Draws of the gamma distribution of scale 1, for the processor and for kernels of GPUs: Marsaglia
// and Tsang, "A simple method for generating gamma variables", 2000. Attempt t of element i uses
// block (i, t) of the draw, so an element depends on its number and its concentration only. The
// bits are equal everywhere if PULLBACK_NO_FMA is defined.
//
// A concentration below 1 is increased by 1, and the draw multiplied by u^(1 / a), in logarithms:
// the logarithm of a draw is finite even if the draw itself is 0.
#pragma once

#include "backend/cpu/kernels/integer_draws.h"
#include "backend/cpu/kernels/unit.h"
#include "backend/cpu/kernels/vec_math.h"

namespace pullback {
namespace {

// Block number of the factor u^(1 / a), after those of all attempts.
constexpr int64_t kBoost = 0xffff;

// log(1 + x) - x for x > -1
PULLBACK_INLINE double log1p_less(double x) {
  const double near =
      x * x *
      m::polynomial(x, -1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7, -1.0 / 8, 1.0 / 9);
  const double far = m::log(1.0 + x) - x;
  return m::magnitude(x) < 0x1p-7 ? near : far;
}

// A standard normal number, accurate to some 2^-34.
PULLBACK_INLINE double rough_normal(uint32_t x0, uint32_t x1) {
  const double radius = m::sqrt(-2.0 * m::rough_log(open_unit32(x0)));
  const m::Quarter q = m::rough_quarter_turns(6.283185307179586 * (x1 * 0x1p-32));
  const double y = q.n & 1 ? m::sin_rough(q.r) : m::cos_rough(q.r);
  return radius * m::negative_if(y, (q.n + 1) >> 1);
}

// d v = d (1 + e)^3 with e = c z, for a standard normal z
struct Attempt {
  double d, e, log_v;
  bool taken;

  template <bool log>
  PULLBACK_INLINE double drawn() const {
    return log ? m::log(d) + log_v : d * ((1.0 + e) * (1.0 + e) * (1.0 + e));
  }
};

PULLBACK_INLINE Attempt attempt(double a, uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3) {
  const double d = (a < 1.0 ? a + 1.0 : a) - 1.0 / 3;
  const double z = rough_normal(x0, x1);
  const double e = z / m::sqrt(9.0 * d);
  const double less = log1p_less(e);
  // z^2/2 + d (1 - v + log v), of which the parts of order 1 cancel
  const double bound = 0.5 * z * z + d * (3.0 * less - e * e * (3.0 + e));
  const bool taken = (e > -1.0) & (m::rough_log(open_unit64(x2, x3)) < bound);
  return {d, e, 3.0 * (less + e), taken};
}

// True if an element needs attempts: not for 0, infinity, or an invalid concentration.
PULLBACK_INLINE bool is_drawn(double a) { return (a > 0.0) & (a < m::kInfinity<double>); }

// The draw without attempts for other concentrations.
template <bool log>
PULLBACK_INLINE double not_drawn(double a) {
  return a >= 0.0 ? (log && a == 0.0 ? -m::kInfinity<double> : a) : m::kNaN<double>;
}

// A draw for a concentration that was increased by 1, with the factor.
template <bool log>
PULLBACK_INLINE double boosted(double y, double a, uint32_t x0, uint32_t x1) {
  const double more = m::log(open_unit64(x0, x1)) / a;
  return log ? y + more : y * m::exp(more);
}

// One element.
template <bool log>
PULLBACK_INLINE double gamma_of(const DrawOf& of, double a) {
  if (!is_drawn(a)) return not_drawn<log>(a);
  double y = 0.0;
  for (int64_t t = 0; t < kBoost; ++t) {
    const PhiloxWords w = block(of, t);
    const Attempt one = attempt(a, w.x[0], w.x[1], w.x[2], w.x[3]);
    y = one.drawn<log>();
    if (one.taken) break;
  }
  if (a >= 1.0) return y;
  const PhiloxWords w = block(of, kBoost);
  return boosted<log>(y, a, w.x[0], w.x[1]);
}

}  // namespace
}  // namespace pullback
