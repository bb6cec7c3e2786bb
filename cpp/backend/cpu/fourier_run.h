// Fourier transforms of columns of matrices, with the tables that they need.
#pragma once

#include <vector>

#include "backend/cpu/fourier_lanes.h"
#include "backend/cpu/roots_of_unity.h"
#include "backend/cpu/slots.h"

namespace pullback {

struct FourierStep {
  LibraryCall call;
  std::vector<FourierLanes> lanes;  // of the lengths that are transformed many at a time
  std::vector<RootsOfUnity> roots;  // of those that are made of shorter ones

  int64_t bytes() const;  // of the tables
};

FourierStep compile_fourier(const LibraryCall& call);
Status run_fourier(const FourierStep& step, const Slots& slots);

}  // namespace pullback
