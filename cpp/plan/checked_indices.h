// Which steps use positions that an earlier one has found inside already.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace pullback {

// By step: whether its indices were looked at before, for an axis that is no longer, or are copied
// from such ones.
std::vector<bool> find_checked(const Plan& plan);

// Whether a step is the first to write to the base that the step before it has copied, and looks at
// all its positions before it does: if one is outside, nothing is written.
bool writes_after_checking(const Plan& plan, size_t step);

// Says so in the steps: they cannot fail.
void mark_checked(Plan* plan);

}  // namespace pullback
