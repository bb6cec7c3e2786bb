// Blas: the functions of the BLAS library, loaded at first use. Start at blas().
#pragma once

#include <string>

namespace pullback {

struct BlasInfo {
  std::string path;      // as configured; empty: none
  std::string corename;  // kernels that OpenBLAS chose
  std::string config;    // build configuration of OpenBLAS
  std::string error;     // why loading failed; empty: loaded
};
const BlasInfo& blas_info();

// The C interface with 32-bit sizes, row-major. Several threads call it at once; each call runs on
// its caller's thread.
struct Blas {
  static constexpr int kRowMajor = 101;
  static constexpr int kNoTrans = 111;
  static constexpr int kTrans = 112;
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*,
                         int, double, double*, int);
  using Sgemv = void (*)(int, int, int, int, float, const float*, int, const float*, int, float,
                         float*, int);
  using Dgemv = void (*)(int, int, int, int, double, const double*, int, const double*, int, double,
                         double*, int);
  Sgemm sgemm = nullptr;
  Dgemm dgemm = nullptr;
  Sgemv sgemv = nullptr;
  Dgemv dgemv = nullptr;
};

// nullptr if it could not be loaded; blas_info().error has the reason.
const Blas* blas();
// A function of the same library by its plain name; null if missing.
void* blas_symbol(const std::string& name);

}  // namespace pullback
