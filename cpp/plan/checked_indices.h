// Finds the steps whose indices an earlier step has already checked against the bounds: they cannot
// fail.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace pullback {

// By step: whether its indices, or the indices that it copies, were checked for an axis of at most
// this size.
std::vector<bool> find_checked(const Plan& plan);

// True if a step is the first to write to the base that the step before it copied, and checks all
// its indices before it writes.
bool writes_after_checking(const Plan& plan, size_t step);

// Marks these steps as unable to fail.
void mark_checked(Plan* plan);

}  // namespace pullback
