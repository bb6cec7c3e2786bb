// Loops and branches: the plans of their bodies, run on the calling thread. See loop_run.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/control/body_run.h"
#include "backend/cpu/control/replay.h"

namespace pullback {

struct LoopProgram {
  const Loop* loop;
  BodyProgram body, condition;
  ReplayProgram replay;
  // Arguments of the body's plan that move on, with the number of what they are.
  struct Moving {
    int32_t argument, number;
  };
  std::vector<Moving> carried, stacked, from_residuals, asked;  // the last of the condition
  std::vector<int64_t> stacked_bytes;  // of an entry of what is stacked: in, then out
  std::vector<int64_t> buffers;        // of each carry: two of them, one behind the other
  int64_t pointers = 0;                // to where what is carried lies now, and next
  int64_t answer = 0;                  // of the condition
  int64_t scratch_bytes = 0;
};

struct BranchProgram {
  const Branch* branch;
  std::vector<BodyProgram> choices;
  int64_t scratch_bytes = 0;
};

LoopProgram compile_loop(const Loop& loop);
BranchProgram compile_branch(const Branch& branch);
Status run_loop(const LoopProgram& program, const Slots& slots);
Status run_branch(const BranchProgram& program, const Slots& slots);

}  // namespace pullback
