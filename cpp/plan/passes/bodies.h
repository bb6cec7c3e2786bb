// Keys and plans of the bodies of loops and branches. A body is planned like a traced function, and
// its key is part of the key of the plan around it.
#pragma once

#include <span>
#include <vector>

#include "graph/operation.h"
#include "plan/plan.h"

namespace pullback {

// The key of a body: everything that its plan depends on. Computed once and stored with the body.
std::span<const unsigned char> key_of(Body* body);
// The key of an operation without its inputs.
std::vector<unsigned char> key_of(const Operation& operation);

// The plan of the wanted roots; cached for equal bodies. `sources`: those of the inputs of the
// body.
BodyPlan plan_of(const Body& body, std::span<const uint8_t> wanted,
                 std::span<const InputSource> sources);

}  // namespace pullback
