// A tensor made once more, with loops and branches below it unrolled (explain/unrolled.h).
#pragma once

#include <utility>
#include <vector>

#include "explain/unrolled.h"

namespace pullback {

struct UnrolledBelow {
  NodeRef y;
  struct Operation {
    NodeRef node;
    int64_t number;  // of iterations, or the branch that was taken
    std::vector<UnrolledPart> parts;
  };
  std::vector<Operation> unrolled;
  std::vector<std::pair<uint64_t, uint64_t>> copies;  // and of what, of all else that was made
};

// `operations` are unrolled where it is known what they did, as far as they lie between y and
// `ends`, at which a gradient ends anyway. Asks for the values that say it.
UnrolledBelow unrolled_below(const NodeRef& y, std::span<const NodeRef> operations,
                             std::span<const NodeRef> ends);

}  // namespace pullback
