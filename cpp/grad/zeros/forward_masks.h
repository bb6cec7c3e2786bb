// Structural zeros in the forward pass, with tangents: the counterpart of grad/zeros/masks.h.
#pragma once

#include <span>

#include "grad/zeros/factored_mask.h"
#include "grad/zeros/masks.h"

namespace pullback {

// True if entries of an input meet in sums in the result; structural zeros of its tangent are then
// replaced by ordinary zeros first.
bool mixes_upwards(const Node* node);

// The mask of the tangent of `node`, a linear operation or a product, if the tangent of input k has
// the mask `nonzero`. `zeros`: the structural zeros that the operations above need.
FactoredMask moved_upwards(const Node* node, const FactoredMask& nonzero, size_t k, Zeros zeros);

// The operand other than k of a product, set to zero where it meets only structural zeros of input
// k's tangent, so that infinities there have no effect. The counterpart of guarded_product.
NodeRef guarded_upwards(const Node* product, const FactoredMask& nonzero, size_t k, Zeros zeros);

// True if the inputs of an operation, which is linear in all of them, are parts of its result.
bool has_parts(const Node* node);

// True if every entry of the result is an entry of input 0, or a mean of equal ones.
bool selects(const Node* node);

// An input of an operation: whether it has a tangent, and the mask of the tangent.
struct Part {
  bool has_tangent;
  FactoredMask nonzero;  // of its tangent
};

// The mask of the tangent of an operation with parts, of an update at indices, a cumulative product
// or a linear recurrence. It is false where all tangents that it depends on are structural zeros or
// missing. `parts`: the inexact inputs. Null: true everywhere, or another operation.
NodeRef joined_upwards(const Node* node, std::span<const Part> parts, Zeros zeros);

}  // namespace pullback
