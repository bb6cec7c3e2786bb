// Asks the processor once, and lets PULLBACK_CPU_LEVEL lower the answer but never raise it: a level
// that the processor lacks would be an illegal instruction somewhere in a kernel.
#include "base/cpu_level.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.h"

namespace pullback {
namespace {

CpuLevel supported() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#if defined(PULLBACK_HAS_avx512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return CpuLevel::Avx512;
  }
#endif
#if defined(PULLBACK_HAS_avx2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    return CpuLevel::Avx2;
  }
#endif
#endif
  return CpuLevel::Baseline;
}

CpuLevel choose() {
  const CpuLevel best = supported();
  const char* wish = std::getenv("PULLBACK_CPU_LEVEL");
  if (!wish) return best;
  for (CpuLevel level : {CpuLevel::Baseline, CpuLevel::Avx2, CpuLevel::Avx512}) {
    if (std::string(name_of(level)) == wish) return std::min(level, best);
  }
  fail(ErrorKind::Value, "PULLBACK_CPU_LEVEL: expected baseline, avx2 or avx512, got '", wish, "'");
}

}  // namespace

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
