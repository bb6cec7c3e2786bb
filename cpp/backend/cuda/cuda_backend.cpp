// Registers devices, and compiles their plans: a step is a launch, or runs on the host.
#include "backend/cuda/cuda_backend.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "backend/common/copied_steps.h"
#include "backend/cuda/device_loop.h"
#include "backend/cuda/index_checks.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/nvrtc.h"
#include "base/error.h"
#include "plan/step_views.h"

namespace pullback::cuda {
namespace {

std::mutex counting;
std::map<std::string, int64_t>& steps_on_host() {
  static auto* const once = new std::map<std::string, int64_t>;
  return *once;
}

struct CudaStep {
  std::optional<Launch> launch;
  std::unique_ptr<DeviceLoop> loop;
  std::unique_ptr<CopiedStep> copied;  // without a launch and a loop
  std::string title;                   // of a copied step: its kind, and what has no kernel
};

class CudaExecutable final : public Executable {
 public:
  // `of_body`: the plan of a body, whose outputs are parts of memory.
  CudaExecutable(const Plan& plan, CudaMemory& memory, KernelCache& kernels, bool of_body)
      : plan_(plan), memory_(memory), of_body_(of_body) {
    steps_.resize(plan.steps.size());
    std::vector<size_t> ready(plan.slots.size(), 0);  // the step after the last that writes a slot
    for (size_t i = 0; i < steps_.size(); ++i) {
      CudaStep& step = steps_[i];
      if (i > 0) {
        for_each_view(plan.steps[i - 1], [&](const View& view, bool write) {
          if (write) ready[view.slot] = i;
        });
      }
      std::string reason;
      step.launch = Launch::of(plan, plan.steps[i].work, memory, kernels, &reason);
      if (step.launch) {
        scratch_bytes_ = std::max(scratch_bytes_, step.launch->scratch_bytes());
        if (const View* const indices = step.launch->checked()) {
          checks_.add(i, ready[indices->slot], *step.launch);
          ranges_ = i;
        }
        continue;
      }
      if (nvrtc() && has_plans(plan.steps[i])) {
        reason = missing_in_bodies(plan.steps[i]);
        if (reason.empty()) {
          step.loop = std::make_unique<DeviceLoop>(plan.steps[i], [&](const Plan& body) {
            return std::make_unique<CudaExecutable>(body, memory, kernels, true);
          });
          scratch_bytes_ = std::max(scratch_bytes_, step.loop->scratch().device);
          bytes_ = std::max(bytes_, step.loop->scratch().lists);
          ranges_ = i;
          continue;
        }
      }
      step.copied = std::make_unique<CopiedStep>(plan, i, memory);
      step.title = kWorkNames[plan.steps[i].work.index()];
      if (!reason.empty()) step.title += " (" + reason + ")";
      bytes_ = std::max(bytes_, step.copied->bytes());
    }
    for (const Slot& slot : plan.slots) {
      if (slot.kind == SlotKind::Output && is_index(slot.dtype)) ranges_ = steps_.size();
    }
    found_ = round_up(scratch_bytes_, 8);
    scratch_bytes_ = found_ + checks_.bytes();
    if (scratch_bytes_) scratch_bytes_ += Slots::scratch_offset(plan) - plan.arena_bytes;
  }

  int64_t scratch_bytes() const override { return scratch_bytes_; }

  Status run(const RunArguments& run) const noexcept override {
    const RunScope scope;
    RunArguments mine = run;
    const Slots slots(plan_, mine);
    const size_t no_return = run.in_place ? plan_.point_of_no_return : steps_.size();
    const StepMemory block(bytes_);  // before the first step: a lack of memory changes nothing
    if (!block.data()) return failure(Problem::Memory);
    KnownRanges known(plan_, slots, run.scalars);
    IndexCheckRun checks(checks_, memory_, slots, run.scalars, slots.scratch() + found_);
    for (size_t i = 0; i < steps_.size(); ++i) {
      // The step at the point of no return has not written anything before it begins.
      const auto before = i <= no_return ? run.interrupted : nullptr;
      const auto within = i < no_return ? run.interrupted : nullptr;
      mine.interrupted = within;  // for plans inside of steps
      Status status = run_step(i, slots, block.data(), run.scalars, known, checks, before, within);
      if (status) {
        if (i < ranges_) known.add(plan_.steps[i]);
        continue;
      }
      if (!status.inner) status.inner = &plan_.steps[i];
      status.step = static_cast<int32_t>(i);
      return status;
    }
    if (!of_body_) known.note_outputs();
    return {};
  }

 private:
  // `before` and `within` return true to stop the run before and within the step.
  Status run_step(size_t number, const Slots& slots, char* block, const Scalar* scalars,
                  const KnownRanges& known, IndexCheckRun& checks, bool (*before)(),
                  bool (*within)()) const noexcept {
    const CudaStep& step = steps_[number];
    try {
      if (step.launch) {
        if (step.launch->checked()) {
          if (Status status = checks.check(number, known, before); !status) return status;
        }
        step.launch->run(slots, scalars);
        return {};
      }
      if (step.loop) return step.loop->run(slots, block, memory_, known, within);
      {
        const std::lock_guard lock(counting);
        ++steps_on_host()[step.title];
      }
      if (!memory_.wait_until_done(before)) return failure(Problem::Interrupted);
      return step.copied->run(slots, block, scalars, within);
    } catch (const Error& error) {
      return failure(error.kind() == ErrorKind::Memory ? Problem::Memory : Problem::Device);
    } catch (...) {  // no memory for the text of an error
      return failure(Problem::Memory);
    }
  }

  const Plan& plan_;
  CudaMemory& memory_;
  const bool of_body_;
  std::vector<CudaStep> steps_;
  IndexChecks checks_;
  int64_t found_ = 0;  // offset of their results in scratch memory
  size_t ranges_ = 0;  // of the steps before, the ranges of their integers are of interest
  int64_t bytes_ = 0;  // of the largest copied step
  int64_t scratch_bytes_ = 0;
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(const Driver& driver, int index)
      : device_{static_cast<uint8_t>(1 + index)}, memory_(driver, index), kernels_(memory_) {}

  const char* name() const override { return "cuda"; }
  Device device() const override { return device_; }
  CudaMemory& memory() const override { return memory_; }
  // Groups may run on the host.
  const Limits& limits() const override { return cpu_backend().limits(); }
  std::unique_ptr<Executable> compile(const Plan& plan) const override {
    return std::make_unique<CudaExecutable>(plan, memory_, kernels_, false);
  }

 private:
  const Device device_;
  mutable CudaMemory memory_;
  mutable KernelCache kernels_;
};

std::mutex opening;
// Never freed: at exit the driver may be gone before static objects.
std::array<CudaBackend*, kMaxDevices> opened{};

}  // namespace

int device_count() { return driver() ? driver()->devices : 0; }

Device open_device(int index) {
  if (!driver()) fail(ErrorKind::Runtime, "CUDA is not available: ", unavailable_reason());
  if (index < 0 || index >= std::min(device_count(), kMaxDevices - 1)) {
    fail(ErrorKind::Value, "expected a device of cuda:0 to cuda:", device_count() - 1,
         ", got cuda:", index);
  }
  const std::lock_guard lock(opening);
  CudaBackend*& backend = opened[index];
  if (!backend) {
    backend = std::make_unique<CudaBackend>(*driver(), index).release();
    set_backend(*backend);
  }
  return backend->device();
}

CudaMemory& memory_of_cuda(Device device) { return opened.at(device.id - 1)->memory(); }

std::vector<std::pair<std::string, int64_t>> fallbacks() {
  const std::lock_guard lock(counting);
  return {steps_on_host().begin(), steps_on_host().end()};
}

}  // namespace pullback::cuda
