// LAPACK, in the library that has the BLAS. Called with the columns of matrices one after the
// other, but for `trsm`; by several threads at once, each call on its caller's.
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

// The C interface (LAPACKE) that takes its workspace from the caller.
template <class T>
struct Lapack {
  using Real = typename RealOf<T>::type;
  static constexpr bool kComplex = !std::is_same_v<T, Real>;

  // Scalars are numbers for real matrices, and pointers for complex ones.
  using Alpha = std::conditional_t<kComplex, const T*, T>;
  void (*trsm)(int order, int side, int triangle, int transposition, int unit, int m, int n,
               Alpha alpha, const T* a, int lda, T* b, int ldb) = nullptr;
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
  // Values of real matrices come as two lists.
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
  // The first pointer is a function that chooses eigenvalues; real ones make two vectors of them.
  using Gees = std::conditional_t<
      kComplex,
      int (*)(int, char, char, void*, int, T*, int, int*, T*, T*, int, T*, int, Real*, int*),
      int (*)(int, char, char, void*, int, T*, int, int*, T*, T*, T*, int, T*, int, int*)>;
  Gees gees = nullptr;
  int (*trsyl)(int order, char transpose_a, char transpose_b, int sign, int m, int n, const T* a,
               int lda, const T* b, int ldb, T* c, int ldc, Real* scale) = nullptr;
};

// Null where the library has not all of it.
template <class T>
const Lapack<T>* lapack();

}  // namespace pullback
