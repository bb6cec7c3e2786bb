// Making nodes. Shapes and dtypes are inferred by the callers in ops/; this is the bottom of them
// all and knows only what every node has.
#pragma once

#include <span>
#include <string>

#include "graph/node.h"

namespace pullback {

// A node with inputs: flags, depth and a stamped override follow from them. Here, and in the two
// leaves below that have a shape, is where shapes are checked: ValueError by `who`, the name of the
// op unless something else was called. Making nodes never gives the interpreter lock away.
NodeRef make_node(Op op, DType dtype, const Shape& shape, std::span<Node* const> inputs,
                  const Attr& attr = {}, const char* who = nullptr);

// Leaves.
NodeRef make_value(DType dtype, const Shape& shape, Ref<Buffer> buffer);
NodeRef make_scalar(DType dtype, Scalar scalar, uint8_t flags = 0);
// A scalar as a value node with a buffer of its own; any other node as it is.
NodeRef as_value(const NodeRef& node);
// Stands for an input while a function is traced.
NodeRef make_argument(DType dtype, const Shape& shape);

// What may give the lock away, once per tensor that a program gets to hold: evaluates an untracked
// chain of pending nodes that is deeper than the cap, and parts that are due; reports growth. The
// caller holds `node`.
void hand_out(Node* node);

// Called when the number of live nodes passes kManyNodes (again, after it fell below half):
// something keeps history that nobody asks about. Set by the binding; may throw.
extern void (*warn_many_nodes)(const Node* newest);
constexpr int64_t kManyNodes = 100000;

// Called when an untracked chain of pending nodes is deeper than the cap: evaluates `node`.
// Set by the layer above (eval/evaluate.cpp).
extern void (*evaluate_deep)(Node* node);
constexpr uint32_t kDepthCap = 4096;

// Called for every tensor that a program gets to hold, with null, and for every cotangent in a
// reverse pass, with the operation that sent it
// (itself where a question starts with it), while some thread checks that numbers are finite.
// Set by the binding; may throw.
extern void (*check_numbers)(Node* node, const Node* operation);

// Called when parts (graph/pending_results.h) are due. Set by the layer above too.
extern void (*flush_due_results)();

}  // namespace pullback
