// Views while planning: which node's memory a node looks at, and through which window.
#pragma once

#include "base/shape.h"
#include "graph/node.h"

namespace pullback {

struct NodeView {
  uint32_t base = 0;  // position of the node that owns the memory
  int64_t offset = 0;
  Shape shape;
  Strides strides{};
};

NodeView whole(uint32_t position, const Shape& shape);
// Row-major from its offset on, without gaps.
bool is_row_major(const NodeView& view);
// Exactly the base's elements, in order.
bool is_flat(const NodeView& view, const Node* base);

// A window in another shape without copying; false where that cannot be.
bool reshape_view(const NodeView& input, const Shape& shape, NodeView* out);
// What a view operation does to the view of its input. False where a reshape cannot be a view.
bool apply_view(const Node* node, const NodeView& input, NodeView* out);

}  // namespace pullback
