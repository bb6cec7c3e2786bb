// Graph coloring: finds few products that give all entries of a sparse matrix.
//
// Rows (or columns) of one colour have no entry in the same place, so one product with a vector
// that is 1 at all of them and 0 elsewhere gives the entries of each. Greedy colourings, as
// surveyed by Gebremedhin, Manne and Pothen, "What Color Is Your Jacobian? Graph Coloring for
// Computing Derivatives", SIAM Review 47 (2005).
#pragma once

#include <cstdint>
#include <vector>

#include "base/shape.h"
#include "grad/sparse/sparsity.h"

namespace pullback {

struct Compression {
  bool by_rows = true;           // products with vectors from the left
  int32_t count = 0;             // of colours
  std::vector<int32_t> colours;  // of the rows, or the columns
  // Entry k of the pattern is entry positions[k] of all products, laid one after another by colour.
  std::vector<int32_t> positions;
};

// By rows or by columns, whichever takes fewer products. Of a symmetric matrix an entry may be read
// on either side of the diagonal. `rows` and `columns` are the shapes that the rows and the columns
// are flattened from. MemoryError, by `who`, where the products are too large to be held.
Compression compress(const Pattern& pattern, bool symmetric, const Shape& rows,
                     const Shape& columns, const char* who);

}  // namespace pullback
