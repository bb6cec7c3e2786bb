// One run of a body's plan, for the loop or branch that holds it.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/common/slots.h"

namespace pullback {

// What runs of a body need: places in the step's scratch memory.
struct BodyProgram {
  const BodyPlan* body = nullptr;
  // Where pointers to arguments and outputs lie, the scalars, and the memory of the body's own run.
  int64_t arguments = 0, outputs = 0, scalars = 0, arena = 0;
  // Of each root: the output of the plan that is written for it, or the argument that is the root.
  struct Result {
    int32_t output = -1, argument = -1;
    bool first = false;  // of the roots that this output is written for
  };
  std::vector<Result> results;
};

// `end` is that of the scratch memory so far.
BodyProgram compile_body(const BodyPlan& body, int64_t* end);

// Takes some bytes, aligned; returns where.
int64_t take(int64_t* end, int64_t bytes);

class BodyRun {
 public:
  BodyRun(const BodyProgram& program, const Slots& slots, char* scratch);

  // Operands that are the same in every run.
  void bind(const std::vector<View>& in, const std::vector<int32_t>& draws);
  const BodyPlan& plan() const { return *program_.body; }
  const void*& argument(size_t a) { return arguments_[a]; }
  // The seeds of an iteration.
  void draw(const std::vector<int32_t>& draws, int64_t position);
  // Says where a root is to be written.
  void write(size_t root, void* to);
  Status run() const { return plan().plan->executable->run(run_); }
  // What the run has not written itself.
  void copy(size_t root, void* to, int64_t bytes) const;

 private:
  const BodyProgram& program_;
  const Slots& slots_;
  const void** arguments_;
  void** outputs_;
  Scalar* scalars_;
  RunArguments run_;
  bool draws_ = false;
};

}  // namespace pullback
