// Moves factors of masks (grad/zeros/factored_mask.h) through operations that move entries, in both
// directions: a slice in the reverse pass moves them like an embed in the forward pass. A factor of
// size 1 along an axis stays so.
#pragma once

#include "ops/ops.h"

namespace pullback {

// Axes [from, from + count) of a factor, all of length 1 or broadcast to those of `to`.
NodeRef widened(const NodeRef& factor, const Shape& to, int64_t from, int64_t count);
// The axes [from, from + count) of a factor, which are of length 1, replaced by others of length 1.
NodeRef with_ones(const NodeRef& factor, int64_t from, int64_t count, int64_t wish);
// Of a tensor of shape `old`, reshaped to `now`: axes that neither merge nor part stay apart.
NodeRef reshaped(const NodeRef& factor, const Shape& old, const Shape& now);
// What a window of shape `piece` sees of it.
NodeRef sliced(const NodeRef& factor, Shape piece, const Window& window);
// In a window, false around it.
NodeRef embedded(const NodeRef& factor, Shape around, const Window& window);
// What `take` would take of it.
NodeRef taken(const NodeRef& factor, const Node* indices, int64_t axis);
// What `pick` would pick of it, where it is of a tensor of this shape.
NodeRef picked(const NodeRef& factor, const Shape& shape, const Node* indices);

}  // namespace pullback
