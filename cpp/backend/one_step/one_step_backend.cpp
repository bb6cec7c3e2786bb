// A backend that runs each step as a plan of its own on the CPU backend, with copies of its slots:
// as a device does with the kinds of steps that it lacks. For tests: results have the same bits as
// those of the CPU backend.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "backend/cpu/common/slots.h"
#include "plan/one_step.h"

namespace pullback {
namespace {

class OneStepExecutable : public Executable {
 public:
  explicit OneStepExecutable(const Plan& plan) : plan_(plan) {
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      steps_.push_back(std::make_unique<CopiedStep>(plan, i));
      scratch_bytes_ = std::max(scratch_bytes_, steps_.back()->scratch_bytes);
    }
    if (scratch_bytes_) scratch_bytes_ += Slots::scratch_offset(plan) - plan.arena_bytes;
  }

  int64_t scratch_bytes() const override { return scratch_bytes_; }

  Status run(const RunArguments& run) const noexcept override {
    const Slots slots(plan_, run);
    const size_t no_return = run.in_place ? plan_.point_of_no_return : steps_.size();
    for (size_t i = 0; i < steps_.size(); ++i) {
      Status status = steps_[i]->run(slots, run.scalars, i < no_return ? run.interrupted : nullptr);
      if (status) continue;
      status.step = static_cast<int32_t>(i);
      return status;
    }
    return {};
  }

 private:
  // Scratch memory has the pointers to the copies, then the copies, then the scratch of the step.
  struct CopiedStep {
    CopiedStep(const Plan& from, size_t step) : own(one_step_plan(from, step, cpu_backend())) {
      executable = cpu_backend().compile(own.plan);
      const size_t copies = own.arguments.size() + own.outputs.size();
      scratch_bytes = round_up(static_cast<int64_t>(copies * sizeof(char*)), 64);
      for (const std::vector<int32_t>* list : {&own.arguments, &own.outputs}) {
        for (const int32_t slot : *list) {
          offsets.push_back(scratch_bytes);
          scratch_bytes += round_up(from.slots[slot].bytes, 64);
        }
      }
      arena = scratch_bytes;
      scratch_bytes += executable->scratch_bytes();
    }

    Status run(const Slots& slots, const Scalar* scalars, bool (*interrupted)()) const {
      char* const scratch = slots.scratch();
      auto** const copies = reinterpret_cast<char**>(scratch);
      const size_t arguments = own.arguments.size(), outputs = own.outputs.size();
      const auto slot_of = [&](size_t k) {
        return k < arguments ? own.arguments[k] : own.outputs[k - arguments];
      };
      for (size_t k = 0; k < arguments + outputs; ++k) {
        copies[k] = scratch + offsets[k];
        const int64_t bytes = slots.slot_bytes(slot_of(k));
        if (bytes) std::memcpy(copies[k], slots.at(slot_of(k)), bytes);
      }
      const Status status = executable->run({reinterpret_cast<const void* const*>(copies), scalars,
                                             reinterpret_cast<void* const*>(copies + arguments),
                                             scratch + arena, interrupted});
      if (!status) return status;
      for (size_t k = arguments; k < arguments + outputs; ++k) {
        const int64_t bytes = slots.slot_bytes(slot_of(k));
        if (bytes) std::memcpy(slots.at(slot_of(k)), copies[k], bytes);
      }
      return {};
    }

    OneStepPlan own;
    std::unique_ptr<Executable> executable;
    std::vector<int64_t> offsets;  // of the copies
    int64_t arena = 0, scratch_bytes = 0;
  };

  const Plan& plan_;
  std::vector<std::unique_ptr<CopiedStep>> steps_;  // an executable refers to its plan
  int64_t scratch_bytes_ = 0;
};

class OneStepBackend : public Backend {
 public:
  const char* name() const override { return "one_step"; }
  const Limits& limits() const override { return cpu_backend().limits(); }
  std::unique_ptr<Executable> compile(const Plan& plan) const override {
    return std::make_unique<OneStepExecutable>(plan);
  }
};

}  // namespace

const Backend& one_step_backend() {
  static const OneStepBackend backend;
  return backend;
}

}  // namespace pullback
