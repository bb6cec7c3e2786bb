// Sparsity: finds the entries of one tensor that depend on each entry of another, from the graph:
// the index maps of movement, the axes of folds and products, the indices of gathers. Values are
// read only as indices. If the one is linear in the other, as a cotangent is in the cotangent that
// it was computed from, this is where its Jacobian may differ from zero, whatever rules the reverse
// pass has used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.h"

namespace pullback {

// The entries of a matrix that may be nonzero, by rows: row i has the columns entries[starts[i]] …
// entries[starts[i + 1] - 1], ascending.
struct Pattern {
  // Constructs an empty pattern, since Python's __new__ allocates without running a constructor.
  static void* operator new(size_t size) { return ::new (::operator new(size)) Pattern; }
  static void operator delete(void* pattern) { ::operator delete(pattern); }

  int64_t columns = 0;
  std::vector<int32_t> starts = {0};
  std::vector<int32_t> entries;

  int64_t rows() const { return static_cast<int64_t>(starts.size()) - 1; }
  std::span<const int32_t> row(int64_t i) const {
    return std::span(entries).subspan(starts[i], starts[i + 1] - starts[i]);
  }
};

// Positions between x and y that do not depend on x and have no value yet. Positions that depend on
// an argument, and so have no value before a run, are not included.
std::vector<NodeRef> unknown_positions(const NodeRef& y, const NodeRef& x);

// A row for each entry of y, a column for each entry of x, which is an argument. Positions without
// a value may be any. MemoryError, with `who`, if the pattern does not fit in memory.
Pattern dependence(const NodeRef& y, const NodeRef& x, const char* who);

Pattern transposed(const Pattern& pattern);

}  // namespace pullback
