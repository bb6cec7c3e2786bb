// Masks: where a cotangent is no structural zero. Bool tensors that broadcast to the cotangent;
// null stands for everywhere.
#pragma once

#include <span>

#include "graph/rule.h"

namespace pullback {

// What a node's rule makes of structural zeros in its cotangent.
enum class Zeros : uint8_t {
  Drop,   // they are as good as others: no slope below is infinite
  Cheap,  // they matter where they come for free, along whole axes
  Keep,   // a slope may be infinite
};

// That of a node above others that do `below`.
Zeros zeros_of(const Node* node, Zeros below);

// Both.
Ref<Node> intersect(const Ref<Node>& a, const Ref<Node>& b);
// Any of them; null where that is known to be everywhere.
Ref<Node> unite(std::span<const Ref<Node>> masks);
// Whether b is the negation of a.
bool complementary(const Ref<Node>& a, const Ref<Node>& b);
// Whether a mask says the same of all entries along some axis of a tensor of `shape`.
bool is_narrow(const Node* mask, const Shape& shape);
// The mask of what is left of a cotangent of shape `from` after summing it down to `to`: a sum is a
// structural zero where all its terms are. Null where that is unknown, or would have to be computed
// and `zeros` is not Keep.
Ref<Node> sum_of_mask(const Ref<Node>& mask, const Shape& from, const Shape& to, Zeros zeros);
// Gives the cotangents `out` of a node's inputs, which its rule made of a cotangent with `mask`,
// the masks that follow from it. `clean`: that one was zero outside its mask.
void carry_mask(Node* node, const Ref<Node>& mask, bool clean, std::span<const uint8_t> wanted,
                std::span<Cotangent> out);

}  // namespace pullback
