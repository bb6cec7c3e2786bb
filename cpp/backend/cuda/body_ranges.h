// Ranges of integers in loops and branches: BodyRanges has those of the arguments of the bodies
// while such a step runs on this thread; loop_ranges() and branch_ranges() compute them and those
// of the results.
#pragma once

#include <utility>
#include <vector>

#include "backend/cuda/known_ranges.h"

namespace pullback::cuda {

using Ranges = std::vector<IntegerRange>;

struct LoopRanges {
  Ranges body, condition, replayed;  // of the arguments of their plans, in every iteration
  Ranges out;                        // of Loop::out
};

// `known`: the ranges before the step. Raise std::bad_alloc.
LoopRanges loop_ranges(const Loop& loop, const KnownRanges& known);
Ranges branch_ranges(const Branch& branch, const KnownRanges& known);

class BodyRanges {
 public:
  // `known`: the ranges before the step. Raises std::bad_alloc.
  BodyRanges(const Step& step, const KnownRanges& known);
  ~BodyRanges();
  BodyRanges(const BodyRanges&) = delete;
  BodyRanges& operator=(const BodyRanges&) = delete;

  // The ranges of the arguments of a plan; null if it is not a body of the innermost step that runs
  // on this thread.
  static const Ranges* of(const Plan& plan);

 private:
  std::vector<std::pair<const Plan*, Ranges>> ranges_;
  const BodyRanges* outer_;
};

}  // namespace pullback::cuda
