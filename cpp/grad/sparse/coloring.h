// compress(): colours the rows or columns of a sparse matrix, so that few products give all its
// entries.
//
// Rows (or columns) of one colour have no entry in the same place. So one product with a vector
// that is 1 for them and 0 elsewhere gives all their entries. Greedy colourings: Gebremedhin, Manne
// and Pothen, "What Color Is Your Jacobian? Graph Coloring for Computing Derivatives", SIAM Review
// 47 (2005).
#pragma once

#include <cstdint>
#include <vector>

#include "base/shape.h"
#include "grad/sparse/sparsity.h"

namespace pullback {

struct Compression {
  bool by_rows = true;           // products with vectors from the left
  int32_t count = 0;             // number of colours
  std::vector<int32_t> colours;  // colour of each row or column
  // Entry k of the pattern is entry positions[k] of the products, concatenated by colour.
  std::vector<int32_t> positions;
};

// By rows or by columns, whichever needs fewer products. An entry of a symmetric matrix may be read
// on either side of the diagonal. `rows` and `columns` are the shapes before flattening.
// MemoryError, with `who`, if the products do not fit in memory.
Compression compress(const Pattern& pattern, bool symmetric, const Shape& rows,
                     const Shape& columns, const char* who);

}  // namespace pullback
