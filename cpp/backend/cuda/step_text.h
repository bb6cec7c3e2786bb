// The steps that have kernels: tile groups, products with their epilogues, copies and ranges.
#pragma once

#include <string>
#include <variant>

#include "backend/cuda/kernel_text.h"
#include "plan/plan.h"

namespace pullback::cuda {

// The texts of a step of a plan, which refer to `work`; or what of it has no kernel, empty for all
// of it.
std::variant<StepText, std::string> step_text(const Plan& plan, const Work& work);

}  // namespace pullback::cuda
