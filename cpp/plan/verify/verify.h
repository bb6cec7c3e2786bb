// Verification: what every plan must satisfy before a backend sees it. Run on each new plan (plans
// are made rarely); a violation is a bug of ours and raises RuntimeError.
//
// It uses nothing that the passes recorded: bounds, sizes, lifetimes, places and donated arguments
// are derived from the steps alone, each in about linear time, and no computed size can wrap.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace pullback {

void verify(const Plan& plan);

// --- its parts

[[noreturn]] void broken(size_t step, const char* what);
// Raise if the result does not fit in 64 bits.
int64_t product_of(size_t step, int64_t a, int64_t b);
int64_t sum_of(size_t step, int64_t a, int64_t b);

// For each slot, the slot whose memory it uses: itself or, for a donated argument, the output that
// takes its memory. Checks the outputs and donated arguments as far as the plan's own lists
// determine them.
std::vector<int32_t> memory_of_slots(const Plan& plan);

// A group, and one that follows a product with these operands and this result (verify_group.cpp).
void verify_group(const TileGroup& group, const std::vector<int32_t>& memory, size_t step);
void verify_epilogue(const std::vector<int32_t>& operands, const View& result,
                     const TileGroup& epilogue, const std::vector<int32_t>& memory, size_t step);

// Memory is written completely before it is read or leaves the plan (verify_written.cpp).
void verify_written(const Plan& plan);

// Live slots do not overlap, and donated memory is not read again (verify_memory.cpp).
void verify_memory(const Plan& plan);

}  // namespace pullback
