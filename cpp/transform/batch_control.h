// Loops and branches over a batch: loops of batched bodies.
#pragma once

#include <vector>

#include "transform/batcher.h"

namespace pullback {

// What stands for the outputs of a loop or a branch of the piece, `in` for its inputs (null where
// one does not depend on the batch).
std::vector<BatchedOutput> batched_control(const Node* node, std::span<const Made* const> in,
                                           const Batching& batching);
Made made_of(const BatchedOutput& output);

// Whether numbers are drawn in it, or in what it holds.
bool draws_inside(const Operation& operation);

}  // namespace pullback
