// Moves factors of masks (grad/zeros/factored_mask.h) through operations that move entries, in both
// directions: a slice in the reverse pass moves them like an embed in the forward pass. A factor of
// size 1 along an axis stays so.
#pragma once

#include "ops/ops.h"

namespace pullback {

// Axes [from, from + count) of a factor, broadcast to those of `to`, unless all have size 1.
NodeRef widened(const NodeRef& factor, const Shape& to, int64_t from, int64_t count);
// Replaces the axes [from, from + count) of a factor, which have size 1, by `new_count` axes of
// size 1.
NodeRef with_ones(const NodeRef& factor, int64_t from, int64_t count, int64_t new_count);
// For a tensor reshaped from `old` to `now`: axes that are neither merged nor split are kept.
NodeRef reshaped(const NodeRef& factor, const Shape& old, const Shape& now);
// The factor of a slice of shape `shape`.
NodeRef sliced(const NodeRef& factor, Shape shape, const StridedSlice& range);
// The factor inside of a slice, false around it.
NodeRef embedded(const NodeRef& factor, Shape around, const StridedSlice& range);
// The factor of the result of `take`.
NodeRef taken(const NodeRef& factor, const Node* indices, int64_t axis);
// The factor of the result of `pick`, for a factor of a tensor of this shape.
NodeRef picked(const NodeRef& factor, const Shape& shape, const Node* indices);

}  // namespace pullback
