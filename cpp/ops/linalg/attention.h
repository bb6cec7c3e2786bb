// Attention: softmax(scale q kᵀ + mask) v for each matrix of a batch, without storing more than a
// block of the weights (T. Dao and others, "FlashAttention", 2022). A query without an unmasked key
// has the result 0 and sends zero cotangents.
//
// A routine (graph/operation.h) of q, k, v, an optional mask and an optional draw. Its outputs are
// the result and, for each query, the largest score and 1 / sum exp(score - largest). The
// cotangents are a second routine of these, which recomputes the weights. A second derivative uses
// the composed formula of that routine, which stores all weights. Start at AttentionOptions.
#pragma once

#include <span>
#include <vector>

#include "ops/ops.h"

namespace pullback {

struct AttentionOptions {
  NodeRef scale;
  NodeRef mask;         // bool: true is visible; or floats added to the scores; or null
  bool causal = false;  // query i sees keys up to i
  NodeRef dropped;      // dropout rate of the weights; null: no dropout
};
NodeRef attention(const NodeRef& q, const NodeRef& k, const NodeRef& v,
                  const AttentionOptions& options);

// --- see routine_like and routine_cotangents (ops/linalg/linalg.h)

bool is_attention(const NodeRef& operation);
// True if an input may be shared by several matrices: the mask and the numbers of a draw.
bool is_shared(const Node* operation, size_t input);
// The seed of a routine that draws; null for other routines.
const Node* seed_of_routine(const Node* operation);
NodeRef attention_like(const NodeRef& operation, std::span<const NodeRef> inputs);
std::vector<NodeRef> attention_cotangents(const NodeRef& operation, std::span<Node* const> outputs,
                                          std::span<const NodeRef> g);

}  // namespace pullback
