// What the process decides once: environment variables in force and the place of the BLAS.
//
//   PULLBACK_NUM_THREADS   threads (base/threads.h)
//   PULLBACK_CPU_LEVEL     baseline | avx2 | avx512 (base/cpu_level.h)
//   PULLBACK_BLAS          path of a CBLAS library to use instead of scipy-openblas32
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pullback {

// Path of the BLAS library: PULLBACK_BLAS, else what the package found; empty when neither.
std::string blas_path();
void set_blas_path(const std::string& path);

// The variables above (and OMP_NUM_THREADS, OPENBLAS_CORETYPE) that are set, with their values.
std::vector<std::pair<std::string, std::string>> environment_in_force();

}  // namespace pullback
