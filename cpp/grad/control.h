// Derivatives of loops and branches: loops and branches again, of what the ordinary passes make of
// their bodies.
#pragma once

#include <span>
#include <vector>

#include "graph/rule.h"

namespace pullback {

// What the cotangents of the outputs (null where there is none) say of each input that is wanted;
// null where no path leads there.
std::vector<Ref<Node>> control_cotangents(const Ref<Node>& operation,
                                          std::span<const Ref<Node>> cotangents,
                                          std::span<const uint8_t> wanted,
                                          const OverrideMap* overrides);

// What the tangents of the inputs (null where there is none) say of each output.
std::vector<Ref<Node>> control_tangents(const Ref<Node>& operation,
                                        std::span<const Ref<Node>> tangents,
                                        const OverrideMap* overrides);

}  // namespace pullback
