// Masks that are true in a slice of a tensor and false elsewhere. Their content is known when they
// are built, so they are compared and united without computing anything.
#pragma once

#include <span>

#include "graph/attr.h"
#include "graph/node.h"

namespace pullback {

// A tensor of true: ops/create.cpp's ones.
bool is_true(const Node* mask);
// True in a window of it, false elsewhere.
bool is_window(const Node* mask);
// Whether windows of one rank cover their tensor: no position lies in none of them.
bool cover(std::span<const NodeRef> masks);

}  // namespace pullback
