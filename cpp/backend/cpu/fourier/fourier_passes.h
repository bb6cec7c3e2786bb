// FourierPasses: the passes of a complex Fourier transform without large prime factors, and their
// roots. The passes depend on the number of points alone, so a transform has the same bits alone
// and among others, in vectors of any length.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/fourier/roots_of_unity.h"
#include "backend/cpu/kernels/fourier.h"

namespace pullback {

// A buffer of separate real and imaginary parts: `parts` entries of each.
struct FourierBuffer {
  char* data;
  int64_t parts;
};

struct FourierPasses {
  struct Pass {
    int64_t radix;
    bool flat;
    int64_t roots, circle;  // offsets into `tables`; circle: -1 if there is none
  };
  int64_t points = 0;
  bool narrow = false;  // float; else double
  bool alone =
      false;  // for one sequence at a time; else for as many as a vector has lanes, or more
  std::vector<Pass> passes;
  std::vector<char> tables;

  int64_t bytes() const;
  int64_t real_bytes() const { return narrow ? 4 : 8; }
};

// True if no prime factor is above kLargestRadix.
bool has_passes(int64_t points);
FourierPasses fourier_passes(int64_t points, bool narrow, bool alone);
// Sequences in a vector.
int64_t vector_lanes(bool narrow);

// Runs the passes on `lanes` sequences, from buffer `here` to `there` and back; returns the buffer
// with the result. If `in` or `out` is not null, the first pass reads and the last one writes
// there; `in` requires two passes.
FourierBuffer run_passes(const FourierPasses& passes, int64_t lanes, FourierBuffer here,
                         FourierBuffer there, bool backward, const FourierOutside* in = nullptr,
                         const FourierOutside* out = nullptr);

// Appends both parts of a number, or the rounded number.
void append_real(double x, bool narrow, std::vector<char>* to);

}  // namespace pullback
