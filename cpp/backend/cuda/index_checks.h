// IndexChecks: the checks of indices in a plan, whose runs share waits. When the first check is
// due, all whose indices have been written run with it. A wrong index is an error of its own step,
// when that is due, so that errors are those of a run step by step.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cuda/launch.h"

namespace pullback::cuda {

class IndexChecks {
 public:
  // Adds a launch with a check, in the order of the plan. `ready`: the first step before which its
  // indices have been written. The launch stays where it is.
  void add(size_t step, size_t ready, const Launch& launch) {
    checks_.push_back({step, ready, &launch});
  }
  // Bytes on the device for the results of a run.
  int64_t bytes() const { return static_cast<int64_t>(checks_.size() * sizeof(uint64_t)); }

 private:
  friend class IndexCheckRun;
  struct Check {
    size_t step, ready;
    const Launch* launch;
  };
  std::vector<Check> checks_;
};

// The checks of one run.
class IndexCheckRun {
 public:
  // `found`: bytes() on the device.
  IndexCheckRun(const IndexChecks& checks, CudaMemory& memory, const Slots& slots,
                const Scalar* scalars, char* found)
      : checks_(checks.checks_), memory_(memory), slots_(slots), scalars_(scalars), at_(found) {}

  // Before a step with a check: fails if an index is outside. Waits for the result, until
  // `interrupted` returns true, unless the range of the indices is known or an earlier wait was for
  // them too. Raises what the memory raises.
  Status check(size_t step, const KnownRanges& known, bool (*interrupted)());

 private:
  // Runs check `first` and those that can run with it.
  Status wait(size_t first, const KnownRanges& known, bool (*interrupted)());

  const std::vector<IndexChecks::Check>& checks_;
  CudaMemory& memory_;
  const Slots& slots_;
  const Scalar* scalars_;
  char* at_;
  std::vector<uint64_t> found_;  // by check, if it is done
  std::vector<bool> done_;
};

}  // namespace pullback::cuda
