// Real Fourier transforms that leave the caches: complex ones of half the length, or, of an odd
// number of points, of all points.
#pragma once

#include <optional>

#include "backend/cpu/fourier/long_fourier.h"

namespace pullback {

struct LongReal {
  Transform transform;  // HalfOf or RealFrom
  int64_t points;
  LongFourier complex;                // of half the points, or of all points
  std::optional<RootsOfUnity> roots;  // of all points, if they are even

  LongReal(Transform transform, int64_t points, bool narrow);
  int64_t bytes() const { return complex.bytes() + (roots ? roots->bytes() : 0); }
  // Complex numbers of scratch memory for transform(), after those of `complex`.
  int64_t scratch_points() const { return complex.length; }
};

// A contiguous sequence `x` of real or complex numbers, to y. As transform() of LongFourier.
template <class T>
bool transform(const LongReal& of, const void* x, void* y, double factor, double ends,
               std::complex<T>* scratch);

}  // namespace pullback
