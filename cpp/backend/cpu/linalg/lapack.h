// Lapack: the routines of the library that provides the BLAS. Matrices are column-major, except for
// `trsm`. Several threads call them at once; each call runs on its caller's thread.
#pragma once

#include <complex>

#include "backend/cpu/products/blas.h"

namespace pullback {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};

// The LAPACKE interface with a workspace from the caller.
template <class T>
struct Lapack {
  using Real = typename RealOf<T>::type;
  static constexpr bool kComplex = !std::is_same_v<T, Real>;

  // Scalars are passed by value for real matrices, by pointer for complex ones.
  using Alpha = std::conditional_t<kComplex, const T*, T>;
  void (*trsm)(int order, int side, int triangle, int transposition, int unit, int m, int n,
               Alpha alpha, const T* a, int lda, T* b, int ldb) = nullptr;
  int (*potrf)(int order, char triangle, int n, T* a, int lda) = nullptr;
  int (*getrf)(int order, int m, int n, T* a, int lda, int* pivots) = nullptr;
  int (*geqrf)(int order, int m, int n, T* a, int lda, T* tau, T* work, int size) = nullptr;
  int (*orgqr)(int order, int m, int n, int k, T* a, int lda, const T* tau, T* work,
               int size) = nullptr;
  // Complex routines have an additional real workspace.
  using Gesdd = std::conditional_t<
      kComplex,
      int (*)(int, char, int, int, T*, int, Real*, T*, int, T*, int, T*, int, Real*, int*),
      int (*)(int, char, int, int, T*, int, Real*, T*, int, T*, int, T*, int, int*)>;
  Gesdd gesdd = nullptr;
  using Heevd = std::conditional_t<
      kComplex, int (*)(int, char, char, int, T*, int, Real*, T*, int, Real*, int, int*, int),
      int (*)(int, char, char, int, T*, int, Real*, T*, int, int*, int)>;
  Heevd heevd = nullptr;
  // Eigenvalues of real matrices are returned as two arrays.
  using Geev = std::conditional_t<
      kComplex, int (*)(int, char, char, int, T*, int, T*, T*, int, T*, int, T*, int, Real*),
      int (*)(int, char, char, int, T*, int, Real*, Real*, T*, int, T*, int, T*, int)>;
  Geev geev = nullptr;

  void (*gemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, Alpha alpha,
               const T* a, int lda, const T* b, int ldb, Alpha beta, T* c, int ldc) = nullptr;
  int (*gesv)(int order, int n, int k, T* a, int lda, int* pivots, T* b, int ldb) = nullptr;
  int (*gbsv)(int order, int n, int below, int above, int k, T* bands, int ldab, int* pivots, T* b,
              int ldb) = nullptr;
  int (*gtsv)(int order, int n, int k, T* below, T* diagonal, T* above, T* b, int ldb) = nullptr;
  // The first pointer is a function that selects eigenvalues. Real routines return eigenvalues in
  // two arrays.
  using Gees = std::conditional_t<
      kComplex,
      int (*)(int, char, char, void*, int, T*, int, int*, T*, T*, int, T*, int, Real*, int*),
      int (*)(int, char, char, void*, int, T*, int, int*, T*, T*, T*, int, T*, int, int*)>;
  Gees gees = nullptr;
  int (*trsyl)(int order, char transpose_a, char transpose_b, int sign, int m, int n, const T* a,
               int lda, const T* b, int ldb, T* c, int ldc, Real* scale) = nullptr;
};

// Null if the library lacks one of the routines.
template <class T>
const Lapack<T>* lapack();

}  // namespace pullback
