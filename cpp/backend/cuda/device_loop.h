// DeviceLoop: a loop or a branch whose bodies run on the device. The host starts the steps of each
// iteration, with addresses that advance (backend/common/loop_run.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "backend/common/loop_run.h"
#include "backend/cuda/cuda_memory.h"
#include "backend/cuda/known_ranges.h"

namespace pullback::cuda {

class DeviceLoop {
 public:
  using Compile = std::function<std::unique_ptr<Executable>(const Plan&)>;
  // `compile` compiles the plans of bodies; their results are not results of a run.
  DeviceLoop(const Step& step, const Compile& compile);
  DeviceLoop(const DeviceLoop&) = delete;
  DeviceLoop& operator=(const DeviceLoop&) = delete;

  ScratchBytes scratch() const;
  // `lists` is memory of the host, `known` the ranges before the step. While it runs, `interrupted`
  // may end it between iterations.
  Status run(const Slots& slots, char* lists, CudaMemory& memory, const KnownRanges& known,
             bool (*interrupted)()) const;

 private:
  Step step_;  // with copies of the plans of its bodies
  std::variant<std::monostate, LoopProgram, BranchProgram> program_;
};

// What of the bodies of a step has no kernel; empty if all of them have.
std::string missing_in_bodies(const Step& step);

}  // namespace pullback::cuda
