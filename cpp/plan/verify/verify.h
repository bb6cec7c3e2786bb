// Verification: what every plan must satisfy before a backend sees it. Run on each new plan (plans
// are made rarely); a violation is a bug of ours and raises RuntimeError.
//
// It believes nothing that the passes wrote down: bounds, sizes, lifetimes, places and
// donated arguments are found again from the steps alone, each in about linear time, and no size
// that it computes wraps.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace pullback {

void verify(const Plan& plan);

// --- the parts of it

[[noreturn]] void broken(size_t step, const char* what);
// Raise where the result does not fit in 64 bits.
int64_t product_of(size_t step, int64_t a, int64_t b);
int64_t sum_of(size_t step, int64_t a, int64_t b);

// What memory each slot has: its own, or that of the output which an argument donates it to.
// Checks that outputs and donated arguments are what they should be, as far as the plan's own lists
// say.
std::vector<int32_t> memory_of_slots(const Plan& plan);

// A group, and one that follows a product (verify_group.cpp).
void verify_group(const TileGroup& group, const std::vector<int32_t>& memory, size_t step);
void verify_then(const View& a, const View& b, const View& c, const TileGroup& then,
                 const std::vector<int32_t>& memory, size_t step);

// What plans inside read and write is as large as what they are given (verify_control.cpp).
void verify_loop(const Loop& loop, size_t step);
void verify_branch(const Branch& branch, size_t step);

// Nothing is read, and nothing leaves the plan, before all of it is written (verify_written.cpp).
void verify_written(const Plan& plan);

// Nothing live lies at the place of something else that is, and donated memory is read no more
// (verify_memory.cpp).
void verify_memory(const Plan& plan);

}  // namespace pullback
