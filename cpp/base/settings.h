// Process-wide settings: environment variables, and the path of the BLAS.
//
//   PULLBACK_NUM_THREADS   threads (base/threads.h)
//   PULLBACK_CPU_LEVEL     baseline | avx2 | avx512 (base/cpu_level.h)
//   PULLBACK_BLAS          path of a CBLAS library to use instead of scipy-openblas32
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pullback {

// The path of the BLAS library: PULLBACK_BLAS, else the path that the package found, else empty.
std::string blas_path();
void set_blas_path(const std::string& path);

// The variables above, OMP_NUM_THREADS and OPENBLAS_CORETYPE: name and value of each that is set.
std::vector<std::pair<std::string, std::string>> environment_in_force();

}  // namespace pullback
