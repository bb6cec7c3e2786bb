// Folds over the middle axis of [outer, reduced, inner], whose order depends on sizes alone:
// threads fold parts of it, and further kernels combine these.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "backend/cuda/kernel_text.h"

namespace pullback::cuda {

struct Folding {
  int64_t outer, reduced, inner;
  bool operator==(const Folding&) const = default;
  int64_t results() const { return outer * inner; }
  // Parts into which the axis is divided: entry k is of part k % parts(). Adjacent threads read
  // adjacent entries.
  int64_t parts() const;
};

// How accumulators, of at most eight bytes, become a result.
struct Combination {
  std::string accumulator;  // its type
  std::function<std::string(const std::string& a, const std::string& b)> combined;
  std::string result;  // its type
  std::function<std::string(const std::string& a)> finished;
  std::function<void(KernelBuilder&)> declare;  // parameters that these need; may be null
};

// Prints the beginning of a kernel over parts, up to its loop over entries, where `i` is the number
// of the element and `first` is true for the first entry. The caller closes the loop.
void begin_parts(KernelBuilder& builder, const Folding& folding);

// Combines accumulators at an offset of scratch memory, [outer, parts, inner], at most some at a
// time, and writes the results to `to`.
void combine_parts(StepText& out, const Folding& folding, const Combination& combination,
                   int64_t from, const KernelText::Parameter& to);

}  // namespace pullback::cuda
