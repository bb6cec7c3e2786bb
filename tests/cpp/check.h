// What every program of tests/cpp stands on: check() counts, pick() draws numbers, levels() are the
// kernels to go through, report() ends main.
//
// A program prints what failed, then "N passed, M failed", and returns nonzero on a failure. Run it
// with PULLBACK_CPU_LEVEL = baseline, avx2 and avx512.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "base/cpu_level.h"

namespace pullback::test {

inline int passed = 0;
inline int failed = 0;

inline void check(bool ok, const std::string& what) {
  ++(ok ? passed : failed);
  if (!ok && failed < 40) std::printf("FAILED: %s\n", what.c_str());
}

inline int report() {
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}

inline std::mt19937_64 generator(7);
inline int64_t pick(int64_t n) {
  return static_cast<int64_t>(generator() % static_cast<uint64_t>(n));
}

struct Level {
  CpuLevel level;
  const ElementwiseTable& elementwise;
  const RandomTable& random;
  const GammaTable& gammas;
  const char* name() const { return name_of(level); }
};

// Every instruction set up to cpu_level() that was compiled.
inline std::vector<Level> levels() {
  std::vector<Level> out;
  for (const CpuLevel level : compiled_levels()) {
    if (level > cpu_level()) continue;
    const KernelTable& table = kernels_of(level);
    out.push_back({level, table.elementwise, table.random, table.gammas});
  }
  return out;
}

}  // namespace pullback::test
