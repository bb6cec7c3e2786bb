// Loops and branches: the plans of their bodies, run on the calling thread. See loop_run.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/slots.h"

namespace pullback {

// What a run of a body needs: places in the step's scratch memory.
struct BodyProgram {
  const BodyPlan* body;
  // Where pointers to arguments and outputs lie, the scalars, and the memory of the body's own run.
  int64_t arguments = 0, outputs = 0, scalars = 0, arena = 0;
  // Of each root: the output of the plan that is written for it, or the argument that is the root.
  struct Result {
    int32_t output = -1, argument = -1;
    bool first = false;  // of the roots that this output is written for
  };
  std::vector<Result> results;
};

struct LoopProgram {
  const Loop* loop;
  BodyProgram body, condition;
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
