// The matrix exponential, by squaring a Padé approximant of a scaled matrix.
#pragma once

#include <cstdint>

#include "backend/cpu/linalg/library_call.h"

namespace pullback {

// Memory for one matrix. Row-major and column-major both work: the result for the transpose is the
// transpose.
template <class T>
struct ExponentialArrays {
  T *a, *a2, *a4, *a6, *u, *v;
  double *sums, *next;
  int* pivots;
  ExponentialArrays(Workspace* space, int64_t n);
};

template <class T>
void exponential(const Lapack<T>& lapack, const T* x, int64_t n, const ExponentialArrays<T>& arrays,
                 T* y);

}  // namespace pullback
