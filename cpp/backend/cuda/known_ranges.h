// KnownRanges: the ranges of the integers in the slots of a plan during one run, as far as its
// steps, its numbers and its arguments determine them. Indices inside of an axis need no check. The
// ranges of the arguments of bodies are in body_ranges.h.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/common/slots.h"
#include "runtime/integer_ranges.h"

namespace pullback::cuda {

// The dtypes of indices.
inline bool is_index(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

// The smallest range that contains both.
inline IntegerRange either(const IntegerRange& a, const IntegerRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

class KnownRanges {
 public:
  KnownRanges(const Plan& plan, const Slots& slots, const Scalar* scalars) noexcept;
  // Of the plan of a body before its runs, by the ranges of its arguments.
  KnownRanges(const BodyPlan& body, const std::vector<IntegerRange>& arguments) noexcept;

  // Adds what a step writes, in the order of the plan.
  void add(const Step& step) noexcept;
  // Stores the ranges of the outputs, for later runs.
  void note_outputs() const noexcept;
  // The range of a view before the next step; all integers if nothing is known.
  IntegerRange of(const View& view) const;
  IntegerRange of_slot(int32_t slot) const;

 private:
  void forget() noexcept;
  bool writes_integers(const Step& step) const;
  void set_results(const Step& step);
  void set(const View& view, const IntegerRange& range);
  void set_each(const std::vector<std::optional<View>>& out,
                const std::vector<IntegerRange>& ranges);
  void add_group(const TileGroup& group);
  const Scalar* number_of(const ScalarLoad& load) const;  // null if it differs between runs
  IntegerRange range_of(const Instruction& instruction,
                        const std::vector<IntegerRange>& values) const;
  // What a step other than a group writes to its integer result.
  IntegerRange result_of(const Work& work) const;

  const Plan& plan_;
  const Slots* slots_ = nullptr;
  const Scalar* scalars_ = nullptr;
  const BodyPlan* body_ = nullptr;                        // without slots and scalars
  const std::vector<IntegerRange>* arguments_ = nullptr;  // if the plan is that of a body
  // By slot. `low > high`: nothing was written to it yet. Empty: there was no memory for it.
  std::vector<IntegerRange> ranges_;
};

}  // namespace pullback::cuda
