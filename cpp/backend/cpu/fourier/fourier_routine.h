// Fourier transforms of rows by a library. The core knows none: the binding hands one in before it
// makes the first node that needs it.
#pragma once

#include <cstdint>

namespace pullback {

enum class Transform : uint8_t { Forward, Backward, HalfOf, RealFrom };

// Rows follow each other without gaps: of `points` numbers, of a half points / 2 + 1. `in` may be
// `out` where both are complex.
struct FourierRows {
  Transform transform;
  bool narrow;  // floats; else doubles
  const void* in;
  void* out;
  int64_t rows, points;
  double factor;
};
// Called from any thread; false where there is no memory.
using FourierRoutine = bool (*)(const FourierRows& call) noexcept;
inline FourierRoutine fourier_routine = nullptr;

}  // namespace pullback
