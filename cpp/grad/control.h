// Gradients of loops and branches: loops and branches again, of what the ordinary reverse pass
// makes of their bodies.
#pragma once

#include <span>
#include <vector>

#include "graph/rule.h"

namespace pullback {

// What the cotangents of the outputs (null where there is none) say of each input that is wanted.
std::vector<Cotangent> control_vjp(const Ref<Node>& operation,
                                   std::span<const Ref<Node>> cotangents,
                                   std::span<const uint8_t> wanted, const OverrideMap* overrides);

}  // namespace pullback
