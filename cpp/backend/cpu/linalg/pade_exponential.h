// e to the power of a matrix, by squaring a Padé approximant of a part of it.
#pragma once

#include <cstdint>

#include "backend/cpu/linalg/library_call.h"

namespace pullback {

// Room for one matrix. Rows or columns one after the other: that of the transposed is transposed.
template <class T>
struct ExponentialParts {
  T *a, *a2, *a4, *a6, *u, *v;
  double *sums, *next;
  int* pivots;
  ExponentialParts(Workspace* space, int64_t n);
};

template <class T>
void exponential(const Lapack<T>& lapack, const T* x, int64_t n, const ExponentialParts<T>& parts,
                 T* y);

}  // namespace pullback
