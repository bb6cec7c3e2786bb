// CpuLevel: the instruction set of the kernels, chosen once per process. PULLBACK_CPU_LEVEL
// (baseline, avx2, avx512) selects a lower one, so that tests reach each.
#pragma once

#include <span>

namespace pullback {

enum class CpuLevel { Baseline, Avx2, Avx512 };

// The levels that kernels were compiled for, lowest first.
std::span<const CpuLevel> compiled_levels();
// Chosen at the first call.
CpuLevel cpu_level();
const char* name_of(CpuLevel level);

}  // namespace pullback
