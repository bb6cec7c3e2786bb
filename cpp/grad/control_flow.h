// Derivatives of loops and branches: they are loops and branches again, whose bodies the ordinary
// passes derive from the original bodies. Implemented in grad/control/.
#pragma once

#include <span>
#include <vector>

#include "graph/rule.h"

namespace pullback {

// What the cotangents of the outputs (null where there is none) say of each input that is wanted;
// null where no path leads there.
std::vector<NodeRef> control_cotangents(const NodeRef& operation,
                                        std::span<const NodeRef> cotangents,
                                        std::span<const uint8_t> wanted,
                                        const OverrideMap* overrides);

// What the tangents of the inputs (null where there is none) say of each output.
std::vector<NodeRef> control_tangents(const NodeRef& operation, std::span<const NodeRef> tangents,
                                      const OverrideMap* overrides);

}  // namespace pullback
