// Transposes a vjp: calls the rule with placeholders for the cotangents, and differentiates its
// answers with respect to them.
#pragma once

#include <vector>

#include "grad/reverse.h"

namespace pullback {

// A placeholder for any cotangent; reading it raises an error.
NodeRef any_cotangent(const TensorType& type);

// The gradients of the results of a rule with respect to its cotangents `us`. A rule that is not
// linear in one is linearised near zero. Raises NotImplemented if all are None although the rule
// used them.
std::vector<NodeRef> transpose(const GradientRequest& request, const std::vector<NodeRef>& us);

}  // namespace pullback
