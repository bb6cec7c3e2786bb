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

// Which entries of a matrix may differ from zero, by rows: those of row i are entries[starts[i]] …
// entries[starts[i + 1] - 1], ascending.
struct Pattern {
  // An object of Python that was made by __new__ alone is a pattern, too: an empty one.
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

// Positions that matter between x and y, do not depend on x, and have no value yet. Those that will
// never have one before a run, as they depend on an argument, are not among them.
std::vector<NodeRef> unknown_positions(const NodeRef& y, const NodeRef& x);

// A row for each entry of y, a column for each of x, an argument. Positions without a value may be
// any. MemoryError, by `who`, where that is too much to be held.
Pattern dependence(const NodeRef& y, const NodeRef& x, const char* who);

Pattern transposed(const Pattern& pattern);

}  // namespace pullback
