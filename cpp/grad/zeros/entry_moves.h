// The way entries move through an operation, applied to masks: from input k to the result (the
// tangents of forward mode), or from the result to input k (cotangents). A slice moves cotangents
// as an embed moves tangents, a take as a scatter_add, a pick as a place.
//
// A factor of a mask (grad/zeros/factored_mask.h) that has size 1 along an axis stays so. Start at
// move_mask.
#pragma once

#include "grad/zeros/factored_mask.h"

namespace pullback {

enum class Direction : uint8_t {
  ToResult,  // of tangents
  ToInput,   // of cotangents
};

// The mask of the result or of input k, from the mask of the other one. True where entries meet
// that are not all structural zeros, and for operations that mix entries without an order of their
// own. Products and reductions are not included (grad/zeros/masks.h, forward_masks.h).
FactoredMask move_mask(const Node* node, const FactoredMask& nonzero, size_t k,
                       Direction direction);

// The same for one factor. Null: it cannot be moved.
NodeRef move_factor(const Node* node, const NodeRef& factor, size_t k, Direction direction);

}  // namespace pullback
