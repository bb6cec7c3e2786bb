// ShortFourier: Fourier transforms that stay in a cache, of one sequence or of several at once.
//
// A sequence passes through two buffers of separate real and imaginary parts. An even number of
// real points is folded to half as many complex ones: W. Press et al., Numerical Recipes
// (2007), 12.3. A length with a large prime factor is a convolution with a chirp: L. Bluestein, "A
// linear filtering approach to the computation of discrete Fourier transform" (1970).
#pragma once

#include <vector>

#include "backend/cpu/fourier/fourier_passes.h"

namespace pullback {

// As Spectrum in ops/linalg/fourier.h.
enum class Transform : uint8_t { Whole, HalfOf, RealFrom };

struct ShortFourier {
  Transform transform;
  int64_t points;        // of a sequence: `points` numbers, or points / 2 + 1 in a half spectrum
  int64_t length;        // of the complex transform: half the points, if these are real and even
  FourierPasses passes;  // of `length` points, or of a convolution
  std::vector<char> roots, chirp, kernel;  // separate parts; `chirp` and `kernel` may be empty

  bool narrow() const { return passes.narrow; }
  bool folds() const { return length != points; }
  // Of transform(), for so many lanes.
  int64_t memory_bytes(int64_t lanes) const;
  int64_t bytes() const;
};

ShortFourier short_fourier(Transform transform, int64_t points, bool narrow, bool alone);
// Points of a convolution for `length` points.
int64_t convolution_points(int64_t length);

// `count` sequences. Points and sequences are these numbers of entries apart, real or complex ones.
struct FourierSequences {
  const void* in;
  int64_t in_point, in_sequence;
  void* out;
  int64_t out_point, out_sequence;
  int64_t count;
  bool backward;  // of a complex transform
  double factor;
  double ends = 1;                           // as FourierForm::ends
  const TwiddleFactors* twiddles = nullptr;  // replace the factor, in complex transforms
};
// Requires count ≤ lanes; lanes is 1 for passes of one sequence, and a multiple of vector_lanes()
// for others. If `out` is `in`, sequences are at the same places in both.
void transform(const ShortFourier& of, const FourierSequences& sequences, int64_t lanes,
               char* memory);

// The twiddle factors between the short transforms of a long one: root ** (i * k) for point i of
// sequence k, from sequence `first` on; the root is that of the long transform. In a backward
// transform, its inverse.
int64_t twiddle_bytes(int64_t points, int64_t lanes);
TwiddleFactors fill_twiddles(int64_t points, int64_t lanes, const RootsOfUnity& roots,
                             int64_t first, bool backward, char* memory);

}  // namespace pullback
