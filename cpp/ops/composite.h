// Composites: functions made of other operations, under one node of Op::custom, so that overrides
// and error messages can name `softmax`. Those of enum Composite are built here and may have a rule
// of their own; name_result() names the results of others, which Python functions compute. Start at
// compose().
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "ops/ops.h"

namespace pullback {

const char* name_of(Composite composite);
// Adds a composite of a new name, with a number after Composite::count.
Composite add_composite(const std::string& name);
// The number of composites, Composite::None among them.
int composites();
// A composite computed as `inside` from the tensors `given`. Its rule returns cotangents for all
// but the last `others` of them.
NodeRef compose(Composite which, const NodeRef& inside, std::initializer_list<NodeRef> given,
                size_t others = 0);
// The value inputs[0] as the result of a composite that was given the other inputs: if it has
// several, as number `index` of the results of a call, the other input. Its gradient is that of
// inputs[0], unless a rule for the composite applies. Unlike compose(), it does not hide the
// operations inside from overrides of these.
NodeRef name_result(Composite which, std::span<Node* const> inputs, uint32_t index = 0);
// The call of a composite with several results, `inside`, from the tensors `given`. A rule for the
// composite runs once for all of them.
NodeRef call_composite(Composite which, std::span<Node* const> inside,
                       std::span<Node* const> given);
// A node of Op::custom_call with these results, without a rule.
NodeRef custom_call(std::span<Node* const> inside, std::span<Node* const> inputs,
                    const Attr& attr = {});
// max or min of x over `axes` (as bits), computed as `inside`.
NodeRef extremum(Op op, const NodeRef& inside, const NodeRef& x, AxisMask axes, bool keepdims);
// x to a small integer power, computed as `inside`. Rules and overrides of pow apply to it. The
// exponent, a weak number, is resolved when a rule needs it.
NodeRef power(const NodeRef& inside, Node* x, Node* exponent);

// The rule of a linear algebra composite (ops/linalg/linalg_rules.cpp).
Rule* linalg_rule(Composite composite);

}  // namespace pullback
