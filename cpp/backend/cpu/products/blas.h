// The BLAS library, loaded at first use.
#pragma once

#include <string>

namespace pullback {

struct BlasInfo {
  std::string path;      // as asked for; empty: none configured
  std::string corename;  // the kernels that OpenBLAS chose
  std::string config;    // its build
  std::string error;     // why there is none; empty: loaded
};
const BlasInfo& blas_info();

// The C interface with 32-bit sizes, row-major. Called from several threads at once; the library
// itself runs each call on its caller's thread.
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

// nullptr when it could not be loaded: blas_info().error says why.
const Blas* blas();
// A function of the same library by its plain name; null where there is none.
void* blas_symbol(const std::string& name);

}  // namespace pullback
