// FourierRoutine: a function that transforms rows. The binding registers it before it makes the
// first node that needs one.
#pragma once

#include <cstdint>

namespace pullback {

enum class Transform : uint8_t { Forward, Backward, HalfOf, RealFrom };

// Contiguous rows of `points` numbers, or points / 2 + 1 in a half spectrum. `in` may equal `out`
// if both are complex.
struct FourierRows {
  Transform transform;
  bool narrow;  // float; else double
  const void* in;
  void* out;
  int64_t rows, points;
  double factor;
};
// Called from any thread. Returns false if there is no memory.
using FourierRoutine = bool (*)(const FourierRows& call) noexcept;
inline FourierRoutine fourier_routine = nullptr;

}  // namespace pullback
