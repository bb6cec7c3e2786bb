// Structural zeros on their way down the graph: who cares for them, and where they go in each kind
// of operation.
#pragma once

#include <span>

#include "grad/support.h"
#include "graph/rule.h"

namespace pullback {

// What a node's rule makes of structural zeros in its cotangent.
enum class Zeros : uint8_t {
  Drop,   // no rule below needs them: they are ordinary zeros
  Cheap,  // kept if the program wrote them (`where`) or if they are known without a reduction
  Keep,   // a slope below is infinite or NaN only if one of its operands is
  Far,    // there is a product with such a slope below: masks are reduced over the product's summed
          // axes, except those whose values are zero anyway (relu's)
  Near,   // a slope below may be infinite at finite operands, with no product in between
};

// That of a node above others that do `below`.
Zeros zeros_of(const Node* node, Zeros below);
// That of a composite with a rule of its own.
Zeros zeros_of_composite(Zeros below);

// The support of the cotangent `answer` that a node's row, or a composite's own rule, has for
// input k, where the node's cotangent had `support`; the answer's own mask is not in it. `zeros` is
// the input's.
Support moved(const Node* node, const Support& support, size_t k, const Cotangent& answer,
              Zeros zeros);
Support moved_in_composite(const Node* node, const Support& support, Zeros zeros);

// A value with zeros outside its support; `clean` says that it has them.
Ref<Node> dense_of(const Ref<Node>& value, const Support& support, bool clean);
// Applies the mask of a node's own rule where it is not worth keeping for an input that does
// `zeros`.
void settle_mask(const Node* node, Cotangent* answer, Zeros zeros);

// Whether its row makes zeros of zeros, whatever its inputs are.
bool keeps_zeros(const Node* node);

// A product whose operands are zero where they meet only structural zeros: rows of the left one
// and columns of the right one, as far as their cotangents are sums over them. What is there,
// infinities too, takes no part. The node itself where that is nothing. `left` and `right` are what
// the operands make of structural zeros, `wanted` says whose cotangent is wanted.
Ref<Node> guarded_product(Node* product, const Support& support, std::span<const uint8_t> wanted,
                          Zeros left, Zeros right);

}  // namespace pullback
