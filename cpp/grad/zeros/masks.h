// Structural zeros in the reverse pass: which nodes need them, and how each kind of operation moves
// the mask of a cotangent to the cotangents of its inputs.
//
// A structural zero is an entry that is zero because of the program (outside of a slice, in the
// branch of a where() that was not chosen), as opposed to a number that happens to be 0. It must
// not meet an infinite slope, since 0 * inf is NaN. Start at Zeros and moved(); FactoredMask holds
// the masks.
#pragma once

#include <span>

#include "grad/zeros/factored_mask.h"
#include "graph/rule.h"

namespace pullback {

// The work that the pass may spend to keep the structural zeros of a node's cotangent, by what the
// slopes below that node can be. Ordered: a later value keeps at least what an earlier one keeps.
enum class Zeros : uint8_t {
  Drop,   // no rule below needs them: they are ordinary zeros
  Cheap,  // kept if the program wrote them (`where`) or if they are known without a reduction
  Keep,   // a slope below is infinite or NaN only if one of its operands is
  Far,    // there is a product with such a slope below: masks are reduced over the product's summed
          // axes, except those whose values are zero anyway (relu's)
  Near,   // a slope below may be infinite at finite operands, with no product in between
};

// The Zeros of a node, if the nodes below it need at most `below`.
Zeros zeros_of(const Node* node, Zeros below);
// The Zeros of a composite that has its own rule.
Zeros zeros_of_composite(Zeros below);

// The mask of the cotangent `answer` for input k, returned by a node's row or a composite's own
// rule, if the node's cotangent had the mask `nonzero`. The answer's own mask is not included.
// `zeros` is the input's.
FactoredMask moved(const Node* node, const FactoredMask& nonzero, size_t k, const Cotangent& answer,
                   Zeros zeros);
FactoredMask moved_in_composite(const Node* node, const FactoredMask& nonzero, Zeros zeros);

// The value with zeros outside of its mask. `clean`: the value has them already.
NodeRef dense_of(const NodeRef& value, const FactoredMask& nonzero, bool clean);
// Applies the mask of an answer to its value if the mask is not worth keeping for an input with
// `zeros`.
void resolve_mask(const Node* node, Cotangent* answer, Zeros zeros);

// True if the cotangents of a node are zero wherever its own cotangent is, for all inputs.
bool keeps_zeros(const Node* node);

// The product with operands set to zero where they meet only structural zeros: rows of the left
// operand and columns of the right one, if the cotangents are sums over them. An infinity there
// then has no effect. Returns the node itself if there is no such row or column. `left` and `right`
// are the Zeros of the operands; `wanted` flags the inputs whose cotangent is needed.
NodeRef guarded_product(Node* product, const FactoredMask& nonzero, std::span<const uint8_t> wanted,
                        Zeros left, Zeros right);

}  // namespace pullback
