// Keys and plans of the bodies of loops and branches. A body is planned like a traced function, and
// its key is part of the key of the plan around it.
#pragma once

#include <span>
#include <vector>

#include "graph/operation.h"
#include "plan/plan.h"

namespace pullback {

// The key of a body: all that its plan depends on. Computed once and kept with the body.
std::span<const unsigned char> key_of(Body* body);
// The same of an operation, but for its inputs.
std::vector<unsigned char> key_of(const Operation& operation);

// A plan of the roots that are wanted; the cache has it where an equal body was planned before.
// `inputs`: of each input of the body, which one of the operation that is.
BodyPlan plan_of(const Body& body, std::span<const uint8_t> wanted,
                 std::span<const int32_t> inputs);

}  // namespace pullback
