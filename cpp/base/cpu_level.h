// Which instruction set the kernels use. PULLBACK_CPU_LEVEL (baseline, avx2, avx512) forces a lower
// one so that tests reach each.
#pragma once

namespace pullback {

enum class CpuLevel { Baseline, Avx2, Avx512 };

// Chosen once, at first call.
CpuLevel cpu_level();
const char* name_of(CpuLevel level);

}  // namespace pullback
