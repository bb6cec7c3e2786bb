// Structural zeros in the forward pass, with tangents: the counterpart of grad/zeros/masks.h.
#pragma once

#include <span>

#include "grad/zeros/factored_mask.h"
#include "grad/zeros/masks.h"

namespace pullback {

// Whether entries of an input meet in sums in the result. Then the structural zeros of its tangent
// are replaced by ordinary zeros first.
bool mixes_upwards(const Node* node);

// The mask of what input k's tangent makes of the tangent of `node`, an operation that applies
// itself to tangents or a product, where the input's tangent had `nonzero`. `zeros` is what the
// operations above make of structural zeros.
FactoredMask moved_upwards(const Node* node, const FactoredMask& nonzero, size_t k, Zeros zeros);

// The other operand than k of a product, zero where it meets only structural zeros of input k's
// tangent: what is there, infinities too, takes no part. The mirror image of guarded_product.
NodeRef guarded_upwards(const Node* product, const FactoredMask& nonzero, size_t k, Zeros zeros);

// Whether the inputs of an operation, which is linear in all of them, are parts of its result.
bool has_parts(const Node* node);
// The mask of its tangent, false in a part without one. Null: everywhere.
struct Part {
  bool has_tangent;
  FactoredMask nonzero;
};
NodeRef joined_upwards(const Node* node, std::span<const Part> parts, Zeros zeros);

}  // namespace pullback
