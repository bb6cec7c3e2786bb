// Convolutions and pools over up to three axes, and their rules for the table in opdef.cpp.
//
// Both work on pooling windows: along each of three axes (a missing one has size 1), tap k of the
// window of result entry o reads input entry (o * stride + k * dilation - low) / spacing, if that
// is an integer and inside the input.
#pragma once

#include "graph/windowing.h"
#include "ops/ops.h"

namespace pullback {

// y[n, o…, g, b] = Σ x[n, i…, g, a] w[k…, g, a, b] over taps k and channels a. x has the shape
// (batch, three axes, groups, channels), w (three axes, groups, channels in, channels out), y as x.
// `out` has the sizes of the three axes of y. Float or complex.
NodeRef convolve(const NodeRef& x, const NodeRef& w, const Windowing& windows,
                 const PerWindow& out);

// x has the shape (batch, three axes, channels). max_pool: the largest entry of each window; NaN if
// it has one. max_pool_spread: zeros like x, to which each entry of g (shape of the result) is
// added at the first largest entry of its window. max_pool_choose: the entries of g (shape of x) at
// these places.
NodeRef max_pool(const NodeRef& x, const Windowing& windows, const PerWindow& out);

// The windowing stored in a node of one of these.
Windowing windowing_of(const Node* node);

// The node for a batch. Batched operands have the batch as their first axis.
NodeRef batched_windows(const Node* node, const std::vector<NodeRef>& inputs,
                        const std::vector<bool>& has_batch, int64_t count);

void convolve_vjp(const VjpCall& call, Cotangent* out);
void max_pool_vjp(const VjpCall& call, Cotangent* out);
void max_pool_spread_vjp(const VjpCall& call, Cotangent* out);
void max_pool_choose_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
