// A step of a body without a kernel would copy its slots in every iteration, so that such a loop
// runs on the host as a whole.
#include "backend/cuda/device_loop.h"

#include <utility>

#include "backend/cuda/body_ranges.h"
#include "backend/cuda/step_text.h"
#include "base/threads.h"
#include "plan/step_views.h"

namespace pullback::cuda {

DeviceLoop::DeviceLoop(const Step& step, const Compile& compile) : step_(step) {
  for_each_body(step_, [&](const BodyPlan& body) {
    auto copy = std::make_shared<CachedPlan>();
    copy->plan = body.plan->plan;
    copy->device = body.plan->device;
    copy->executable = compile(copy->plan);
    const_cast<BodyPlan&>(body).plan = std::move(copy);
  });
  if (const auto* loop = std::get_if<Loop>(&step_.work)) program_ = compile_loop(*loop);
  if (const auto* branch = std::get_if<Branch>(&step_.work)) program_ = compile_branch(*branch);
}

ScratchBytes DeviceLoop::scratch() const {
  if (const auto* loop = std::get_if<LoopProgram>(&program_)) return loop->scratch;
  return std::get<BranchProgram>(program_).scratch;
}

Status DeviceLoop::run(const Slots& slots, char* lists, CudaMemory& memory,
                       const KnownRanges& known, bool (*interrupted)()) const {
  const Interruption interruption(interrupted);
  const BodyRanges ranges(step_, known);
  const Scratch scratch{memory, slots.scratch(), lists};
  if (const auto* loop = std::get_if<LoopProgram>(&program_))
    return run_loop(*loop, slots, scratch);
  return run_branch(std::get<BranchProgram>(program_), slots, scratch);
}

std::string missing_in_bodies(const Step& step) {
  std::string out;
  for_each_body(step, [&](const BodyPlan& body) {
    const Plan& plan = body.plan->plan;
    for (const Step& inner : plan.steps) {
      if (!out.empty()) return;
      if (has_plans(inner)) {
        out = missing_in_bodies(inner);
        continue;
      }
      const auto text = step_text(plan, inner.work);
      if (!std::holds_alternative<std::string>(text)) continue;
      const std::string& reason = std::get<std::string>(text);
      out = reason.empty() ? kWorkNames[inner.work.index()] : reason;
    }
  });
  return out;
}

}  // namespace pullback::cuda
