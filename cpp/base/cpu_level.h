// Which instruction set the kernels use. PULLBACK_CPU_LEVEL (baseline, avx2, avx512) forces a lower
// one so that tests reach each.
#pragma once

#include <span>

namespace pullback {

enum class CpuLevel { Baseline, Avx2, Avx512 };

// Those that kernels were compiled for, lowest first.
std::span<const CpuLevel> compiled_levels();
// Chosen once, at first call.
CpuLevel cpu_level();
const char* name_of(CpuLevel level);

}  // namespace pullback
