// Convolutions and pools over up to three axes, and their rules for the table in opdef.cpp.
//
// Both look through windows: along each of three axes (one that is not there has length 1) entry o
// of the result sees, for tap k, entry (o * stride + k * dilation - low) / spacing of the input, if
// that is whole and inside.
#pragma once

#include "graph/windowing.h"
#include "ops/ops.h"

namespace pullback {

// y[n, o…, g, b] = Σ x[n, i…, g, a] w[k…, g, a, b] over taps k and channels a, with x of shape
// (batch, three axes, groups, channels), w (three axes, groups, channels, channels) and y as x;
// `out` are the lengths of its axes. Float or complex.
NodeRef convolve(const NodeRef& x, const NodeRef& w, const Windowing& windows,
                 const PerWindow& out);

// Of x (batch, three axes, channels). max_pool: the largest of each window, NaN before all.
// max_pool_spread: zeros like x with each entry of g (as the pool of x) added where the window has
// its first largest; max_pool_choose: what g (as x) has there.
NodeRef max_pool(const NodeRef& x, const Windowing& windows, const PerWindow& out);

// How a node of these looks.
Windowing windowing_of(const Node* node);

// For a whole batch; the operands that have one have it as their first axis.
NodeRef batched_windows(const Node* node, const std::vector<NodeRef>& inputs,
                        const std::vector<bool>& has_batch, int64_t count);

void convolve_vjp(const VjpCall& call, Cotangent* out);
void max_pool_vjp(const VjpCall& call, Cotangent* out);
void max_pool_spread_vjp(const VjpCall& call, Cotangent* out);
void max_pool_choose_vjp(const VjpCall& call, Cotangent* out);

}  // namespace pullback
