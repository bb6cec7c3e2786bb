// Operands of steps: views of slots and scalars of the run, and how a step uses them. Every kind of
// step lists its own (plan/steps.h); plan/step_views.h enumerates them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/view.h"

namespace pullback {

// A number that a run provides, by its position in RunArguments::scalars.
struct RunScalar {
  int32_t position;
};

// How a step uses an operand. Views are row-major unless `strided`.
struct Use {
  bool read = false;
  bool write = false;
  bool strided = false;
  bool indexed = false;  // it reads no more elements than it writes
};
constexpr Use kRead{.read = true};
constexpr Use kReadStrided{.read = true, .strided = true};
constexpr Use kReadIndexed{.read = true, .strided = true, .indexed = true};
constexpr Use kWrite{.write = true};
constexpr Use kWriteStrided{.write = true, .strided = true};

// What a step checks of its own shapes: raises the error of verify() if a requirement is violated.
struct Require {
  size_t step;

  void operator()(bool holds, const char* what) const;
  // Raises if the product does not fit in 64 bits.
  int64_t product(int64_t a, int64_t b) const;
};

}  // namespace pullback
