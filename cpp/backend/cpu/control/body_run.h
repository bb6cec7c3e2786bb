// BodyRun: runs the plan of a body, for the loop or branch that contains it. Its data lie in the
// scratch memory of that step, at the offsets of a BodyProgram. Start at BodyProgram.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/common/slots.h"

namespace pullback {

// Layout of a body's data in the scratch memory of its step.
struct BodyProgram {
  const BodyPlan* body = nullptr;
  // Offsets of the pointers to arguments and outputs, of the scalars, and of the arena of the
  // body's plan.
  int64_t arguments = 0, outputs = 0, scalars = 0, arena = 0;
  // For each wanted root: the plan's output that is written for it, or the argument that it equals.
  struct Result {
    int64_t number;  // of the output or argument
    bool argument = false;
    bool first = false;  // first of the roots with this output
  };
  std::vector<std::optional<Result>> results;
};

// `end`: the end of the scratch memory used so far; advanced.
BodyProgram compile_body(const BodyPlan& body, int64_t* end);

// Reserves some bytes, aligned; returns their offset.
int64_t take(int64_t* end, int64_t bytes);

class BodyRun {
 public:
  BodyRun(const BodyProgram& program, const Slots& slots, char* scratch);

  // Sets the operands that are the same in every run.
  void bind(const std::vector<BodyInput>& in);
  const BodyPlan& plan() const { return *program_.body; }
  const void*& argument(size_t a) { return arguments_[a]; }
  // Sets the seeds for an iteration.
  void draw(const std::vector<BodyInput>& in, int64_t position);
  // Sets the destination of a root.
  void write(size_t root, void* to);
  Status run() const { return plan().plan->executable->run(run_); }
  // Copies a root that the run has not written itself.
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
