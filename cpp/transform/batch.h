// Batching: rebuilds a subgraph for many inputs at once. Every tensor that depends on a batched
// input gets a first axis, the batch; all others are shared.
//
// vmap calls a function once on placeholders and batches the result. A jacobian is a reverse pass
// with a placeholder cotangent, batched over all cotangents. Start at Batching and batched().
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/operation.h"

namespace pullback {

struct Batching {
  std::vector<NodeRef> inputs;   // placeholders (make_argument) for one entry
  std::vector<NodeRef> batches;  // for each placeholder, all entries along a first axis
  int64_t count = 0;             // number of entries
  // The number of the first node of a mapped function. Its random nodes draw for each entry, see
  // BatchScope; its user-defined rules may refer to placeholders even if the values do not depend
  // on them.
  uint64_t first = UINT64_MAX;
  // The entries of the first batch are masks: entry i is true at its element i alone. So they
  // select all rows or columns of a derivative.
  bool units = false;
  // If the nodes of a body are rebuilt outside of it: that body. A rule may refer to nodes of it
  // that depend on no input.
  Ref<Body> body;
};

// The roots with a first axis of size `count`: entry i is the root with batches[k][i] in place of
// inputs[k], for all k. An operation that cannot be batched raises Error (NotImplemented) with its
// name. A user-defined rule is called once, for one entry.
std::vector<NodeRef> batched(std::vector<NodeRef> roots, const Batching& batching);

// Like batched(), but builds every entry separately if an operation cannot be batched. nullopt if a
// user-defined rule prevents that.
std::optional<std::vector<NodeRef>> batched_or_each(std::vector<NodeRef> roots,
                                                    const Batching& batching);

}  // namespace pullback
