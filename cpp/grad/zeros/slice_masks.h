// Masks that are true in a slice of a tensor and false elsewhere. Their content is known when they
// are built, so they are compared and united without computing anything.
#pragma once

#include <span>

#include "graph/attr.h"
#include "graph/node.h"

namespace pullback {

// True if the node is a tensor of ones made by ops/create.cpp.
bool is_true(const Node* mask);
// True if the mask is true inside of a slice and false elsewhere.
bool is_slice_mask(const Node* mask);
// True if the slices, of one rank, cover their tensor.
bool cover(std::span<const NodeRef> masks);

}  // namespace pullback
