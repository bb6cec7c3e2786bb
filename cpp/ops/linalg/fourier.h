// Discrete Fourier transforms along one axis, as routines (graph/operation.h) over the columns of
// matrices. They are linear, and their adjoints are transforms of the same kind.
#pragma once

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

enum class Spectrum : uint8_t {
  Whole,     // complex to complex
  HalfOf,    // real numbers to the first half of their transform
  RealFrom,  // a half spectrum to `points` real numbers
};
// The transformed axis of `x` has `points` numbers, or points / 2 + 1 for a half spectrum. `who`
// must live as long as the process.
NodeRef fourier(const NodeRef& x, int64_t axis, Spectrum spectrum, const FourierForm& form,
                const char* who);

NodeRef fourier_cotangent(const NodeRef& operation, const NodeRef& g);

}  // namespace pullback
