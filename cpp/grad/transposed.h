// Transposes a vjp: calls the rule with placeholders for the cotangents, and differentiates its
// answers with respect to them.
#pragma once

#include <vector>

#include "grad/reverse.h"

namespace pullback {

// A cotangent of a result that stands for any; who looks at it is told so.
NodeRef any_cotangent(const TensorType& type);

// The gradients of what a rule made of `us`, by them. What is not linear in one counts as what it
// is near zero. Raises NotImplemented where all is None though the rule has made use of them.
std::vector<NodeRef> transpose(const GradientRequest& request, const std::vector<NodeRef>& us);

}  // namespace pullback
