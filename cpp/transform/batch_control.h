// Loops and branches over a batch: they become loops and branches of batched bodies. Start at
// batched_control().
#pragma once

#include <vector>

#include "transform/batcher.h"

namespace pullback {

// The batched outputs of a loop or branch. `in`: its batched inputs; null if one does not depend on
// the batch.
std::vector<BatchedOutput> batched_control(const Node* node, std::span<const Made* const> in,
                                           const Batching& batching);
Made made_of(const BatchedOutput& output);

// True if the operation or a body inside of it draws random numbers.
bool draws_inside(const Operation& operation);

}  // namespace pullback
