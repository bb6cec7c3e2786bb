// Applies the passes of grad/ to the body of a loop or branch; used by the files of this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grad/reverse.h"
#include "graph/body_dependence.h"
#include "graph/operation.h"
#include "ops/body.h"

namespace pullback {

// The cotangent of each flagged input, from the cotangents of the roots (null: none); null if no
// path leads there.
std::vector<NodeRef> pull_back(const Body& body, std::span<const NodeRef> cotangents,
                               const Flags& inputs, const OverrideMap* overrides);

// The tangent of each flagged root, from the tangents of the inputs (null: none).
std::vector<NodeRef> push_forward(const Body& body, std::span<const NodeRef> tangents,
                                  const Flags& roots, const OverrideMap* overrides);

// A placeholder of a node's type, and zeros of a node's type.
NodeRef argument_like(const NodeRef& node);
NodeRef zeros_like(const NodeRef& node);
// If one is null, returns the other.
NodeRef sum_of(const NodeRef& a, const NodeRef& b);

// --- one pair for each kind of operation: cotangents of the outputs (null: none) to cotangents of
// the wanted inputs, and tangents of the inputs to tangents of the outputs

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
