// Factors and triangular systems of many small matrices, as the kernels of table.h: once per
// instruction set. Declarations only, for the reason that is said there.
#pragma once

#include <cstdint>

namespace pullback {

// Rows and columns; larger ones are a library's.
constexpr int64_t kSmallMatrix = 32;
// A multiple of as many as are computed at once, whatever the instruction set.
constexpr int64_t kSmallTogether = 16;

// Matrices of n rows and columns, row-major, one behind the other; `count` of them.
struct SmallLu {
  int64_t n, count;
  const void* a;
  void* packed;  // l, without its ones, and u
  int64_t* positions;
  void* sign;
};
struct SmallCholesky {
  int64_t n, count;
  const void* a;
  void* l;
};
// x of t x = b, where t is one triangle, or of tᵀ x = b; b and x have k columns.
struct SmallTriangular {
  int64_t n, k, count;
  bool lower, unit, transposed;
  const void* t;
  const void* b;
  void* x;
};

// Those of float32 and of float64. What may fail returns the first matrix that did, or -1; results
// from there on are of no meaning. Outputs of lu may be null.
struct SmallMatrixTable {
  void (*lu[2])(const SmallLu& call) noexcept;
  int64_t (*cholesky[2])(const SmallCholesky& call) noexcept;
  int64_t (*triangular[2])(const SmallTriangular& call) noexcept;
};

}  // namespace pullback
