// Derivatives of loops and branches: they are loops and branches again, whose bodies the ordinary
// passes derive from the original bodies. Implemented in grad/control/.
#pragma once

#include <span>
#include <vector>

#include "graph/rule.h"

namespace pullback {

// The cotangent of each wanted input, from the cotangents of the outputs (null: none); null if no
// path leads there.
std::vector<NodeRef> control_cotangents(const NodeRef& operation,
                                        std::span<const NodeRef> cotangents,
                                        std::span<const uint8_t> wanted,
                                        const OverrideMap* overrides);

// The tangent of each output, from the tangents of the inputs (null: none).
std::vector<NodeRef> control_tangents(const NodeRef& operation, std::span<const NodeRef> tangents,
                                      const OverrideMap* overrides);

}  // namespace pullback
