// Attention: softmax(scale q kᵀ + mask) v for each matrix of a batch, in memory for no more than a
// block of the weights (T. Dao and others, "FlashAttention", 2022). A query that no key takes part
// for has the result 0, and sends 0.
//
// It is a routine (graph/operation.h) of q, k, v, of a mask and of a draw where there are such. Its
// outputs are the result, and for each query the largest score and 1 / sum exp(score - that). The
// cotangents are another routine, of these, which makes the weights again; what is differentiated
// once more is that one's composed formula, which holds all of the weights.
#pragma once

#include <span>
#include <vector>

#include "ops/ops.h"

namespace pullback {

struct AttentionOptions {
  NodeRef scale;
  NodeRef mask;         // bool: who takes part; or floats that are added; null: none
  bool causal = false;  // query i sees the keys up to i
  NodeRef dropped;      // the rate at which weights become 0; null: none
};
NodeRef attention(const NodeRef& q, const NodeRef& k, const NodeRef& v,
                  const AttentionOptions& options);

// --- as routines_like and routine_cotangents (ops/linalg/linalg.h)

bool is_attention(const NodeRef& operation);
// Whether an input may be one for several matrices: the mask, the numbers of a draw.
bool is_shared(const Node* operation, size_t input);
// The seed of what a routine draws; null where it draws nothing.
const Node* seed_of_routine(const Node* operation);
NodeRef attention_like(const NodeRef& operation, std::span<const NodeRef> inputs);
std::vector<NodeRef> attention_cotangents(const NodeRef& operation, std::span<Node* const> outputs,
                                          std::span<const NodeRef> g);

}  // namespace pullback
