// Finds gradients that are zero except for some rows, as the gradient of a table after take().
#pragma once

#include <cstdint>
#include <optional>

#include "graph/node.h"

namespace pullback {

// Row k of `values` belongs to position indices[k]; indices have shape (n) and dtype int32 or
// int64. A position may occur twice; negative ones count from the end.
struct Rows {
  NodeRef values, indices;
};

// The order of the rows: of the takes that they are cotangents of, or of the additions.
enum class RowOrder : uint8_t { AsTaken, AsAdded };

// The rows whose sum x is, if x is zeros to which rows were added along the first axis and is not
// evaluated yet. Computes nothing.
std::optional<Rows> rows_of(const NodeRef& x, RowOrder order);

}  // namespace pullback
