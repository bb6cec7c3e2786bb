// Finds the steps whose indices an earlier step has already checked against the bounds: they cannot
// fail.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace pullback {

// By step: whether its indices were checked before for an axis of at most this size, or are copies
// of such indices.
std::vector<bool> find_checked(const Plan& plan);

// Whether a step is the first to write to the base that the step before it has copied, and checks
// all its indices before: if one is out of range, nothing is written.
bool writes_after_checking(const Plan& plan, size_t step);

// Marks these steps as unable to fail.
void mark_checked(Plan* plan);

}  // namespace pullback
