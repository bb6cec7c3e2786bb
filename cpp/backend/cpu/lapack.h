// LAPACK, in the library that has the BLAS. Called with the columns of matrices one after the
// other, but for `trsm`; by several threads at once, each call on its caller's.
#pragma once

#include <complex>

#include "backend/cpu/blas.h"

namespace pullback {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};

// The C interface (LAPACKE) that takes its workspace from the caller.
template <class T>
struct Lapack {
  using Real = typename RealOf<T>::type;
  static constexpr int kColumns = 102;
  static constexpr bool kComplex = !std::is_same_v<T, Real>;

  // Scalars are numbers for real matrices, and pointers for complex ones.
  using Alpha = std::conditional_t<kComplex, const T*, T>;
  void (*trsm)(int order, int side, int triangle, int turn, int unit, int m, int n, Alpha alpha,
               const T* a, int lda, T* b, int ldb) = nullptr;
  int (*potrf)(int order, char triangle, int n, T* a, int lda) = nullptr;
  int (*getrf)(int order, int m, int n, T* a, int lda, int* pivots) = nullptr;
  int (*geqrf)(int order, int m, int n, T* a, int lda, T* tau, T* work, int size) = nullptr;
  int (*orgqr)(int order, int m, int n, int k, T* a, int lda, const T* tau, T* work,
               int size) = nullptr;
  // Complex ones have real workspace, too.
  using Gesdd = std::conditional_t<
      kComplex,
      int (*)(int, char, int, int, T*, int, Real*, T*, int, T*, int, T*, int, Real*, int*),
      int (*)(int, char, int, int, T*, int, Real*, T*, int, T*, int, T*, int, int*)>;
  Gesdd gesdd = nullptr;
  using Heevd = std::conditional_t<
      kComplex, int (*)(int, char, char, int, T*, int, Real*, T*, int, Real*, int, int*, int),
      int (*)(int, char, char, int, T*, int, Real*, T*, int, int*, int)>;
  Heevd heevd = nullptr;
};

// Null where the library has not all of it.
template <class T>
const Lapack<T>* lapack();

}  // namespace pullback
