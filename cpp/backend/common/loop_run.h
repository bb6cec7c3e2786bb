// LoopProgram and BranchProgram: steps that run the plans of their bodies on the calling thread,
// for any backend: addresses of the device are advanced here and read by the plans only.
// See loop_run.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/common/body_run.h"
#include "backend/common/replay.h"

namespace pullback {

struct LoopProgram {
  const Loop* loop;
  BodyProgram body, condition;
  ReplayProgram replay;
  // An argument of the body's plan that changes between iterations, and the number of its carry (or
  // scanned input, or residual).
  struct Moving {
    int32_t argument, number;
  };
  std::vector<Moving> carries, scanned, residuals;
  std::vector<Moving> condition_carries;  // of the condition's plan
  std::vector<int64_t> stacked_bytes;  // bytes per entry of scanned inputs, then of stacked outputs
  std::vector<int64_t> buffers;        // for each carry, two buffers
  // Offset in the lists of the addresses of the carries (present and next), of scanned inputs and
  // of stacked outputs.
  int64_t pointers = 0;
  int64_t answer = 0;  // offset of the condition's result
  ScratchBytes scratch;
};

struct BranchProgram {
  const Branch* branch;
  std::vector<BodyProgram> choices;
  ScratchBytes scratch;
};

LoopProgram compile_loop(const Loop& loop);
BranchProgram compile_branch(const Branch& branch);
Status run_loop(const LoopProgram& program, const Slots& slots, const Scratch& scratch);
Status run_branch(const BranchProgram& program, const Slots& slots, const Scratch& scratch);

}  // namespace pullback
