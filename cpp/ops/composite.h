// Composites: functions made of other operations, under one node of Op::custom.
#pragma once

#include <initializer_list>

#include "ops/ops.h"

namespace pullback {

const char* name_of(Composite composite);
// One that is computed as `inside` from what it is given; rules answer for all but the last
// `others`.
NodeRef compose(Composite which, const NodeRef& inside, std::initializer_list<NodeRef> given,
                size_t others = 0);
// max or min of x over `axes` (as bits), computed as `inside`.
NodeRef extremum(Op op, const NodeRef& inside, const NodeRef& x, AxisMask axes, bool keepdims);
// x to the power of a small whole number, computed as `inside`: what means pow means this, too.
// The exponent, a weak number, is resolved when a rule asks for it.
NodeRef power(const NodeRef& inside, Node* x, Node* exponent);

// The rule of one of linear algebra (ops/linalg/linalg_rules.cpp).
Rule* linalg_rule(Composite composite);

}  // namespace pullback
