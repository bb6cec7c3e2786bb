// Finds gradients that are zero except for some rows, as the gradient of a table after take().
#pragma once

#include <cstdint>
#include <optional>

#include "graph/node.h"

namespace pullback {

// Row k of `values` belongs at indices[k], of shape (n), int32 or int64; a position may come twice,
// and negative ones count from the end.
struct Rows {
  NodeRef values, indices;
};

enum class RowOrder : uint8_t { AsTaken, AsAdded };

// What a tensor is the sum of, if it is zeros with rows added to them along the first axis and
// nobody has asked for it yet. Nothing is computed.
std::optional<Rows> rows_of(const NodeRef& x, RowOrder order);

}  // namespace pullback
