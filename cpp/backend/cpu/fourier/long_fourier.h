// LongFourier: Fourier transforms that leave the caches, on all threads.
//
// A transform of n1 n2 points is n2 short ones of columns, twiddle factors, and n1 short ones of
// rows: D. Bailey, "FFTs in external or hierarchical memory" (1990). Without suitable factors it is
// a convolution with a chirp, as in short_fourier.h.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "backend/cpu/fourier/short_fourier.h"

namespace pullback {

// From so many complex points on, transforms are divided. Measured: below, passes over all points
// cost less than the columns.
constexpr int64_t long_points(bool narrow) { return narrow ? 1 << 17 : 1 << 16; }

// A complex transform of a length with factors near its square root.
struct DividedFourier {
  ShortFourier columns, rows;
  RootsOfUnity roots;

  DividedFourier(int64_t points, bool narrow);
  int64_t points() const { return roots.points(); }
  int64_t bytes() const { return columns.bytes() + rows.bytes() + roots.bytes(); }
};

struct LongFourier {
  int64_t length;          // complex points
  DividedFourier divided;  // of the length, or of the convolution
  // Of a convolution: powers of exp(-πi / length), and the transform of the chirp's conjugate; the
  // latter is computed in each run if it is large.
  std::optional<RootsOfUnity> chirp;
  std::vector<char> kernel;

  LongFourier(int64_t length, bool narrow);
  int64_t bytes() const;
  // Complex numbers of scratch memory for transform().
  int64_t scratch_points() const { return chirp ? 3 * divided.points() : length; }
};

// Transforms x to y, which may be x. Returns false if there is no memory; if the run was
// interrupted, y is not complete.
template <class T>
bool transform(const LongFourier& of, const std::complex<T>* x, std::complex<T>* y, bool backward,
               double factor, std::complex<T>* scratch);
// To be called once before transform(), with the same scratch memory.
template <class T>
bool prepare(const LongFourier& of, std::complex<T>* scratch);

}  // namespace pullback
