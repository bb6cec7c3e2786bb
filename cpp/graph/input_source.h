// InputSource: where a body of a loop or branch takes an input from.
#pragma once

#include <cstdint>

namespace pullback {

// The source of an input of a body: an input of the operation, or a residual of the loop that the
// operation replays (a place in Operation::residuals).
struct InputSource {
  int32_t number;
  bool residual = false;

  bool operator==(const InputSource&) const = default;
};

}  // namespace pullback
