// A tensor rebuilt with the loops and branches below it unrolled (explain/unrolled.h). Start at
// unrolled_below().
#pragma once

#include <utility>
#include <vector>

#include "explain/unrolled.h"

namespace pullback {

struct UnrolledBelow {
  NodeRef y;
  struct Operation {
    NodeRef node;
    int64_t number;  // number of iterations, or the branch that was taken
    std::vector<UnrolledPart> parts;
  };
  std::vector<Operation> unrolled;
  std::vector<std::pair<uint64_t, uint64_t>> copies;  // all other copies, each with its original
};

// Unrolls those of `operations` that lie between y and `ends` (where gradients end) and whose
// number of iterations or branch is known. Evaluates the tensors that contain these numbers.
UnrolledBelow unrolled_below(const NodeRef& y, std::span<const NodeRef> operations,
                             std::span<const NodeRef> ends);

}  // namespace pullback
