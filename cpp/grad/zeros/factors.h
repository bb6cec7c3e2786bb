// Factors of supports (grad/zeros/support.h) on their way through operations that move entries, in
// either direction: what a reverse pass does for a slice, a forward pass does for an embed. Along
// an axis of which a factor says the same (there it has length 1) it stays as narrow as it was.
#pragma once

#include "ops/ops.h"

namespace pullback {

// Axes [from, from + count) of a factor, all of length 1 or broadcast to those of `to`.
Ref<Node> widened(const Ref<Node>& factor, const Shape& to, int64_t from, int64_t count);
// The axes [from, from + count) of a factor, which are of length 1, replaced by others of length 1.
Ref<Node> with_ones(const Ref<Node>& factor, int64_t from, int64_t count, int64_t wish);
// Of a tensor of shape `old`, reshaped to `now`: axes that neither merge nor part stay apart.
Ref<Node> reshaped(const Ref<Node>& factor, const Shape& old, const Shape& now);
// What a window of shape `piece` sees of it.
Ref<Node> sliced(const Ref<Node>& factor, Shape piece, const Window& window);
// In a window, false around it.
Ref<Node> embedded(const Ref<Node>& factor, Shape around, const Window& window);
// What `take` would take of it.
Ref<Node> taken(const Ref<Node>& factor, const Node* indices, int64_t axis);
// What `pick` would pick of it, where it is of a tensor of this shape.
Ref<Node> picked(const Ref<Node>& factor, const Shape& shape, const Node* indices);

}  // namespace pullback
