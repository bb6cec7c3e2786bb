// Transposes a vjp: calls the rule with placeholders for the cotangents, and differentiates its
// answers with respect to them.
#pragma once

#include <span>
#include <vector>

#include "grad/reverse.h"
#include "grad/zeros/factored_mask.h"

namespace pullback {

// A placeholder for any cotangent; reading it raises an error.
NodeRef any_cotangent(const TensorType& type);

// Applies the transpose of a rule to the tangents of its node's inputs (null: none). `answers`: the
// cotangents of the inputs that the rule returned for the placeholders `us`. Returns a tangent for
// each of `us`, or null. `any_zero` is set if an answer is zero. A rule that is not linear in a
// cotangent is linearised near zero. Raises NotImplemented if all results are null although the
// rule used its cotangents.
std::vector<NodeRef> transpose(std::span<const Cotangent> answers,
                               std::span<const NodeRef> tangents, const std::vector<NodeRef>& us,
                               bool* any_zero);

// The mask of the tangent of a node that selects entries of input 0 (see selects), whose tangent
// has the mask `nonzero`: the transpose applied to that mask. Its coefficients are not negative,
// so the result is 0 at structural zeros only.
NodeRef mask_of_selection(const Node* node, std::span<const Cotangent> answers,
                          const FactoredMask& nonzero, const NodeRef& u);

}  // namespace pullback
