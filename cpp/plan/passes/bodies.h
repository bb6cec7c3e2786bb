// Plans of the bodies of loops and branches.
#pragma once

#include <span>
#include <vector>

#include "graph/operation.h"
#include "plan/plan.h"

namespace pullback {

// Everything that the plan of a body depends on, as of a snapshot. Kept with the body.
std::span<const unsigned char> key_of(Body* body);
// The same of an operation, but for its inputs.
std::vector<unsigned char> key_of(const Operation& operation);

// A plan of the roots that are wanted; the cache has it where an equal body was planned before.
// `inputs`: of each input of the body, which one of the operation that is.
BodyPlan plan_of(const Body& body, std::span<const uint8_t> wanted,
                 std::span<const int32_t> inputs);

}  // namespace pullback
