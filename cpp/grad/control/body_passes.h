// Applies the ordinary passes to the body of a loop or a branch; for loops.cpp and branches.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grad/reverse.h"
#include "graph/operation.h"
#include "ops/body.h"

namespace pullback {

using Flags = std::vector<uint8_t>;

// Which of a body's roots depend on inputs that are flagged.
Flags depending(const Body& body, const Flags& inputs);

// For each input that is flagged the cotangent that those of the roots (null where there is none)
// make of it; null where no path leads there.
std::vector<NodeRef> pull_back(const Body& body, std::span<const NodeRef> cotangents,
                               const Flags& inputs, const OverrideMap* overrides);

// For each root the tangent that those of the inputs (null where there is none) make of it.
std::vector<NodeRef> push_forward(const Body& body, std::span<const NodeRef> tangents,
                                  const OverrideMap* overrides);

// An argument, and zeros, of the type of a node.
NodeRef argument_like(const NodeRef& node);
NodeRef zeros_like(const NodeRef& node);
// Either where the other is null.
NodeRef sum_of(const NodeRef& a, const NodeRef& b);

// --- one for each kind of operation: cotangents or tangents of the outputs, null where there is
// none, to those of the inputs that are wanted, and the other way

std::vector<NodeRef> loop_cotangents(const NodeRef& loop, std::span<const NodeRef> cotangents,
                                     std::span<const uint8_t> wanted, const OverrideMap* overrides);
std::vector<NodeRef> loop_tangents(const NodeRef& loop, std::span<const NodeRef> tangents,
                                   const OverrideMap* overrides);
std::vector<NodeRef> branch_cotangents(const NodeRef& branch, std::span<const NodeRef> cotangents,
                                       std::span<const uint8_t> wanted,
                                       const OverrideMap* overrides);
std::vector<NodeRef> branch_tangents(const NodeRef& branch, std::span<const NodeRef> tangents,
                                     const OverrideMap* overrides);

}  // namespace pullback
