// FourierLanes: batches of Fourier transforms of one short length, as many at once as a vector
// has lanes (kernels/fourier.cpp).
#pragma once

#include <vector>

#include "backend/cpu/common/slots.h"
#include "backend/cpu/fourier/roots_of_unity.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {

// Passes of a transform and their roots.
struct FourierLanes {
  int64_t points = 0;
  bool narrow = false;  // float; else double
  std::vector<int64_t> radices;
  std::vector<char> roots;

  int64_t at_once() const;       // sequences
  int64_t memory_bytes() const;  // of transform()
};

// True for products of 2, 3 and 5 whose passes stay in a cache.
bool has_fourier_lanes(int64_t points, bool narrow);
FourierLanes fourier_lanes(int64_t points, bool narrow);

// `count` sequences, at most at_once(). Points and sequences are separated by these numbers of
// complex entries; if `out` is `in`, equally in both.
struct FourierSequences {
  const void* in;
  int64_t in_point, in_sequence;
  void* out;
  int64_t out_point, out_sequence;
  int64_t count;
  bool backward;
  double factor;
  const TwiddleFactors* twiddles = nullptr;  // replace the factor
};
void transform(const FourierLanes& lanes, const FourierSequences& of, char* memory);

// The twiddle factors between the short transforms of a long one: root ** (i * k) for point i of
// sequence k, from sequence `first` on; the root is that of the long transform. A backward
// transform uses the same ones, since it exchanges real and imaginary parts when they are applied.
int64_t twiddle_bytes(const FourierLanes& lanes);
TwiddleFactors fill_twiddles(const FourierLanes& lanes, const RootsOfUnity& roots, int64_t first,
                             char* memory);

}  // namespace pullback
