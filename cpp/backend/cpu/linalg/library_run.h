// LibraryStep: a routine of LAPACK over a batch of matrices.
#pragma once

#include "backend/common/slots.h"

namespace pullback {

// A call, with its workspace: numbers of the matrices' dtype, real numbers, integers.
struct LibraryStep {
  LibraryCall call;
  int64_t work = 0, reals = 0, ints = 0;
};

LibraryStep compile_library(const LibraryCall& call);
Status run_library(const LibraryStep& step, const Slots& slots);

}  // namespace pullback
