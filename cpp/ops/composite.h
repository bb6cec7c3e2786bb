// Composites: functions made of other operations, under one node of Op::custom, so that overrides
// and error messages can name `softmax`. Start at compose().
#pragma once

#include <initializer_list>

#include "ops/ops.h"

namespace pullback {

const char* name_of(Composite composite);
// A composite computed as `inside` from the tensors `given`. Its rule returns cotangents for all
// but the last `others` of them.
NodeRef compose(Composite which, const NodeRef& inside, std::initializer_list<NodeRef> given,
                size_t others = 0);
// max or min of x over `axes` (as bits), computed as `inside`.
NodeRef extremum(Op op, const NodeRef& inside, const NodeRef& x, AxisMask axes, bool keepdims);
// x to a small integer power, computed as `inside`. Rules and overrides of pow apply to it. The
// exponent, a weak number, is resolved when a rule needs it.
NodeRef power(const NodeRef& inside, Node* x, Node* exponent);

// The rule of a linear algebra composite (ops/linalg/linalg_rules.cpp).
Rule* linalg_rule(Composite composite);

}  // namespace pullback
