// KnownRanges: the ranges of the integers in the slots of a plan during one run, as far as its
// steps, its numbers and its arguments determine them. Indices inside of an axis need no check.
#pragma once

#include <vector>

#include "backend/common/slots.h"
#include "runtime/integer_ranges.h"

namespace pullback::cuda {

// The dtypes of indices.
inline bool is_index(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

class KnownRanges {
 public:
  KnownRanges(const Plan& plan, const Slots& slots, const Scalar* scalars) noexcept;

  // Adds what a step writes, in the order of the plan.
  void add(const Step& step) noexcept;
  // Stores the ranges of the outputs, for later runs.
  void note_outputs() const noexcept;
  // The range of a view before the next step; all integers if nothing is known.
  IntegerRange of(const View& view) const;

 private:
  bool writes_integers(const Step& step) const;
  void set_results(const Step& step);
  void set(const View& view, const IntegerRange& range);
  void add_group(const TileGroup& group);
  IntegerRange range_of(const Instruction& instruction,
                        const std::vector<IntegerRange>& values) const;
  // What a step other than a group writes to its integer result.
  IntegerRange result_of(const Work& work) const;

  const Plan& plan_;
  const Slots& slots_;
  const Scalar* scalars_;
  // By slot. `low > high`: nothing was written to it yet. Empty: there was no memory for it.
  std::vector<IntegerRange> ranges_;
};

}  // namespace pullback::cuda
