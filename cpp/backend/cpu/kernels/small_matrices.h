// Batched factorisations and triangular solves of small matrices, compiled once per instruction set
// like the kernels of table.h. Declarations only, for the reason given there.
#pragma once

#include <cstdint>

namespace pullback {

// Largest number of rows; larger matrices go to LAPACK.
constexpr int64_t kSmallMatrix = 32;
// Largest number of rows of SmallSolve.
constexpr int64_t kSmallSolve = 8;
// A multiple of the number of lanes of every instruction set.
constexpr int64_t kLaneMultiple = 16;

// `count` contiguous row-major matrices with n rows and columns.
struct SmallLu {
  int64_t n, count;
  const void* a;
  void* packed;  // l without its unit diagonal, and u
  int64_t* positions;
  void* sign;
  void* det;
};
struct SmallCholesky {
  int64_t n, count;
  const void* a;
  void* l;
};
// Solves t x = b or tᵀ x = b, where t is one triangle; b and x have k columns.
struct SmallTriangular {
  int64_t n, k, count;
  bool lower, unit, transposed;
  const void* t;
  const void* b;
  void* x;
};
// Solves a x = b or aᵀ x = b; x has k columns.
struct SmallSolve {
  int64_t n, k, count;
  bool transposed;
  const void* a;
  const void* b;  // null: unit matrices
  void* x;
};

// For float32 and float64. Kernels that can fail return the number of the first matrix that did, or
// -1; results from it on are undefined. Outputs of lu may be null.
struct SmallMatrixTable {
  void (*lu[2])(const SmallLu& call) noexcept;
  int64_t (*cholesky[2])(const SmallCholesky& call) noexcept;
  int64_t (*triangular[2])(const SmallTriangular& call) noexcept;
  int64_t (*solve[2])(const SmallSolve& call) noexcept;
};

}  // namespace pullback
