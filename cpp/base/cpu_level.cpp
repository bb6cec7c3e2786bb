// Reads the level of the processor once. PULLBACK_CPU_LEVEL can lower it but not raise it: a kernel
// above the processor's level would be an illegal instruction.
#include "base/cpu_level.h"

#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"

namespace pullback {
namespace {

constexpr CpuLevel kCompiled[] = {
#if defined(PULLBACK_HAS_baseline)
    CpuLevel::Baseline,
#endif
#if defined(PULLBACK_HAS_avx2)
    CpuLevel::Avx2,
#endif
#if defined(PULLBACK_HAS_avx512)
    CpuLevel::Avx512,
#endif
};

CpuLevel supported() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return CpuLevel::Avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    return CpuLevel::Avx2;
  }
#endif
  return CpuLevel::Baseline;
}

// The highest compiled level that the processor supports and that is not above `limit`; if there is
// none, the lowest supported level.
CpuLevel best_up_to(CpuLevel limit) {
  const CpuLevel best = supported();
  const CpuLevel* found = nullptr;
  for (const CpuLevel& level : kCompiled) {
    if (level <= best && (level <= limit || !found)) found = &level;
  }
  if (found) return *found;
  fail(ErrorKind::Runtime, "pullback: expected a processor with ", name_of(kCompiled[0]),
       ", for which it was built, got one with ", name_of(best), "; build it on this machine");
}

CpuLevel choose() {
  const char* requested = std::getenv("PULLBACK_CPU_LEVEL");
  if (!requested) return best_up_to(CpuLevel::Avx512);
  for (CpuLevel level : {CpuLevel::Baseline, CpuLevel::Avx2, CpuLevel::Avx512}) {
    if (std::string(name_of(level)) == requested) return best_up_to(level);
  }
  fail(ErrorKind::Value, "PULLBACK_CPU_LEVEL must be one of 'baseline', 'avx2', 'avx512'; got '",
       requested, "'");
}

}  // namespace

std::span<const CpuLevel> compiled_levels() { return kCompiled; }

CpuLevel cpu_level() {
  static const CpuLevel level = choose();
  return level;
}

const char* name_of(CpuLevel level) {
  switch (level) {
    case CpuLevel::Avx512:
      return "avx512";
    case CpuLevel::Avx2:
      return "avx2";
    default:
      return "baseline";
  }
}

}  // namespace pullback
