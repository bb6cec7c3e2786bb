// Discrete Fourier transforms along one axis: routines (graph/operation.h) that see it as the
// columns of matrices. They are linear, and their adjoints are such transforms.
#pragma once

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

enum class Spectrum : uint8_t {
  Whole,     // complex to complex
  HalfOf,    // real to the first half of its transform
  RealFrom,  // from such a half, of `points` numbers
};
// `x` has what is transformed along `axis`: `points` numbers, or of a half points / 2 + 1.
// `who` lives as long as the program.
NodeRef fourier(const NodeRef& x, int64_t axis, Spectrum spectrum, const FourierForm& form,
                const char* who);

NodeRef fourier_cotangent(const NodeRef& operation, const NodeRef& g);

}  // namespace pullback
