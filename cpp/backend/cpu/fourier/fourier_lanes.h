// Fourier transforms of many sequences of the same short length, as many at once as a vector has
// lanes (kernels/fourier.cpp).
#pragma once

#include <vector>

#include "backend/cpu/common/slots.h"
#include "backend/cpu/fourier/roots_of_unity.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {

// Passes of a transform and their roots.
struct FourierLanes {
  int64_t points = 0;
  bool narrow = false;  // floats; else doubles
  std::vector<int64_t> radices;
  std::vector<char> roots;

  int64_t at_once() const;       // sequences
  int64_t memory_bytes() const;  // that transform() needs
};

// Whether these can: products of 2, 3 and 5 whose passes stay in a cache.
bool has_fourier_lanes(int64_t points, bool narrow);
FourierLanes fourier_lanes(int64_t points, bool narrow);

// `count` sequences, at most at_once(); points and sequences are so many complex numbers apart.
// Where out is in, they are as far apart there.
struct FourierSequences {
  const void* in;
  int64_t in_point, in_sequence;
  void* out;
  int64_t out_point, out_sequence;
  int64_t count;
  bool backward;
  double factor;
  const TwiddleFactors* twiddles = nullptr;  // instead of the factor
};
void transform(const FourierLanes& lanes, const FourierSequences& of, char* memory);

// The factors between the short transforms that a long one is made of: root ** (i * k) for point i
// of sequence k, from sequence `first` on, of so many roots as the long one has points. Of a
// backward one they are the same, as parts are exchanged where these are applied.
int64_t twiddle_bytes(const FourierLanes& lanes);
TwiddleFactors fill_twiddles(const FourierLanes& lanes, const RootsOfUnity& roots, int64_t first,
                             char* memory);

}  // namespace pullback
