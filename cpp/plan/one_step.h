// A step as a plan of its own. A backend without some kind of step runs these steps on another
// backend: it copies the slots to it, runs the plan of the step, and copies the results back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/backend.h"

namespace pullback {

// Slots that the step only reads are arguments of `plan`, slots that it writes are outputs. A step
// may read an output or write only a part of it, so an output must have the contents of its slot
// before the run. The scalars of a run are those of the original plan.
struct OneStepPlan {
  Plan plan;
  std::vector<int32_t> arguments, outputs;  // their slots in the original plan
};

// `backend` compiles the plans of bodies; `plan` itself is not compiled.
OneStepPlan one_step_plan(const Plan& plan, size_t step, const Backend& backend);

}  // namespace pullback
