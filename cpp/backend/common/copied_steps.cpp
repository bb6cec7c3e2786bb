// The memory of a run of one step, on the host: the addresses of the copies, the copies, and the
// scratch memory of the step.
#include "backend/common/copied_steps.h"

#include <algorithm>

#include "base/error.h"

namespace pullback {

CopiedStep::CopiedStep(const Plan& from, size_t step, DeviceMemory& memory)
    : memory_(memory), own_(one_step_plan(from, step, cpu_backend())) {
  executable_ = cpu_backend().compile(own_.plan);
  const size_t copies = own_.arguments.size() + own_.outputs.size();
  bytes_ = round_up(static_cast<int64_t>(copies * sizeof(char*)), 64);
  for (const std::vector<int32_t>* list : {&own_.arguments, &own_.outputs}) {
    for (const int32_t slot : *list) {
      offsets_.push_back(bytes_);
      bytes_ += round_up(from.slots[slot].bytes, 64);
    }
  }
  scratch_ = bytes_;
  bytes_ += executable_->scratch_bytes();
}

Status CopiedStep::run(const Slots& slots, char* block, const Scalar* scalars,
                       bool (*interrupted)()) const {
  auto** const copies = reinterpret_cast<char**>(block);
  const size_t arguments = own_.arguments.size(), outputs = own_.outputs.size();
  for (size_t k = 0; k < arguments + outputs; ++k) {
    const int32_t slot = k < arguments ? own_.arguments[k] : own_.outputs[k - arguments];
    copies[k] = block + offsets_[k];
    const int64_t bytes = slots.slot_bytes(slot);
    if (bytes) memory_.download(copies[k], slots.at(slot), bytes);
  }
  const Status status = executable_->run({reinterpret_cast<const void* const*>(copies), scalars,
                                          reinterpret_cast<void* const*>(copies + arguments),
                                          block + scratch_, interrupted});
  if (!status) return status;
  for (size_t k = 0; k < outputs; ++k) {
    const int64_t bytes = slots.slot_bytes(own_.outputs[k]);
    if (bytes) memory_.upload(slots.at(own_.outputs[k]), copies[arguments + k], bytes);
  }
  return {};
}

CopiedSteps::CopiedSteps(const Plan& plan, DeviceMemory& memory) : plan_(plan), memory_(memory) {
  steps_.reserve(plan.steps.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    steps_.emplace_back(plan, i, memory);
    bytes_ = std::max(bytes_, steps_.back().bytes());
  }
}

Status CopiedSteps::run(const RunArguments& run) const noexcept {
  const Slots slots(plan_, run);
  const size_t no_return = run.in_place ? plan_.point_of_no_return : steps_.size();
  const StepMemory block(bytes_);  // before the first step: a lack of memory changes nothing
  if (!block.data()) return failure(Problem::Memory);
  for (size_t i = 0; i < steps_.size(); ++i) {
    Status status;
    try {
      status = steps_[i].run(slots, block.data(), run.scalars,
                             i < no_return ? run.interrupted : nullptr);
    } catch (const Error& error) {
      status = failure(error.kind() == ErrorKind::Memory ? Problem::Memory : Problem::Device);
    } catch (...) {  // no memory for the text of an error
      status = failure(Problem::Memory);
    }
    if (status) continue;
    status.step = static_cast<int32_t>(i);
    return status;
  }
  return {};
}

}  // namespace pullback
