// Draws of one block of random words, for the processor and for kernels of GPUs. The bits are equal
// everywhere if PULLBACK_NO_FMA is defined:
//   uniform float32  word i           24 bits          uniform float64  words 2i, 2i+1   53 bits
//   exponential      -log of the words of uniform, for float32 of 32 bits; never of 0 or 1
//   normal           Box-Muller on the neighbours 2i and 2i+1, computed in float64
#pragma once

#include "backend/cpu/kernels/philox.h"
#include "backend/cpu/kernels/unit.h"
#include "backend/cpu/kernels/vec_math.h"

namespace pullback {
namespace {

PULLBACK_INLINE void uniform(const PhiloxWords& w, float* y) {
  y[0] = unit32(w.x[0]);
  y[1] = unit32(w.x[1]);
  y[2] = unit32(w.x[2]);
  y[3] = unit32(w.x[3]);
}
PULLBACK_INLINE void uniform(const PhiloxWords& w, double* y) {
  y[0] = unit64(w.x[0], w.x[1]);
  y[1] = unit64(w.x[2], w.x[3]);
}

struct NormalPair {
  double a, b;
};
// `first` in (0, 1), `turn` in [0, 1).
PULLBACK_INLINE NormalPair box_muller(double first, double turn) {
  const double radius = m::sqrt(-2.0 * m::log(first));
  const double angle = 6.283185307179586 * turn;
  return {radius * m::cos_small(angle), radius * m::sin_small(angle)};
}
PULLBACK_INLINE void normal(const PhiloxWords& w, float* y) {
  const NormalPair p = box_muller(open_unit32(w.x[0]), w.x[1] * 0x1p-32);
  const NormalPair q = box_muller(open_unit32(w.x[2]), w.x[3] * 0x1p-32);
  y[0] = static_cast<float>(p.a);
  y[1] = static_cast<float>(p.b);
  y[2] = static_cast<float>(q.a);
  y[3] = static_cast<float>(q.b);
}
PULLBACK_INLINE void normal(const PhiloxWords& w, double* y) {
  const NormalPair p = box_muller(open_unit64(w.x[0], w.x[1]), one_to_two(w.x[2], w.x[3]) - 1.0);
  y[0] = p.a;
  y[1] = p.b;
}

PULLBACK_INLINE void exponential(const PhiloxWords& w, float* y) {
  y[0] = static_cast<float>(-m::rough_log(open_unit32(w.x[0])));
  y[1] = static_cast<float>(-m::rough_log(open_unit32(w.x[1])));
  y[2] = static_cast<float>(-m::rough_log(open_unit32(w.x[2])));
  y[3] = static_cast<float>(-m::rough_log(open_unit32(w.x[3])));
}
PULLBACK_INLINE void exponential(const PhiloxWords& w, double* y) {
  y[0] = -m::log(open_unit64(w.x[0], w.x[1]));
  y[1] = -m::log(open_unit64(w.x[2], w.x[3]));
}

}  // namespace
}  // namespace pullback
