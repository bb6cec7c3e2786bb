// CopiedSteps: an executable that runs each step as a plan of its own on the CPU backend, with
// copies of its slots. A backend uses it for the kinds of steps that it lacks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/common/slots.h"
#include "plan/one_step.h"

namespace pullback {

// One step of a plan whose slots are in `memory`.
class CopiedStep {
 public:
  CopiedStep(const Plan& from, size_t step, DeviceMemory& memory);
  // `block` has bytes() bytes on the host. Raises what the memory raises.
  Status run(const Slots& slots, char* block, const Scalar* scalars, bool (*interrupted)()) const;
  int64_t bytes() const { return bytes_; }

 private:
  DeviceMemory& memory_;
  OneStepPlan own_;
  std::unique_ptr<Executable> executable_;
  std::vector<int64_t> offsets_;  // of the copies in the memory of a run
  int64_t scratch_ = 0;           // offset of the scratch memory of the step
  int64_t bytes_ = 0;
};

class CopiedSteps : public Executable {
 public:
  CopiedSteps(const Plan& plan, DeviceMemory& memory);
  Status run(const RunArguments& run) const noexcept override;

 private:
  const Plan& plan_;
  DeviceMemory& memory_;
  std::vector<CopiedStep> steps_;
  int64_t bytes_ = 0;  // of the largest step
};

}  // namespace pullback
