// Evaluation with several devices. A plan runs on one device, so a pending transfer is computed
// before the plans of its readers, by a copy, and is an argument of theirs.
#pragma once

#include <functional>
#include <span>

#include "graph/node.h"

namespace pullback {

// True if one plan computes the roots: the pending ones are on one device, with no pending transfer
// below them.
bool is_on_one_device(std::span<Node* const> roots);

// Evaluates the roots: first the pending transfers below them, the lowest first, then the roots of
// each device by evaluate(). A failure leaves the values of plans that ran before.
void evaluate_by_device(std::span<Node* const> roots,
                        const std::function<void(std::span<Node* const>)>& evaluate);

}  // namespace pullback
