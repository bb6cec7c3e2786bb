// The forward pass: adds the nodes of tangents to the graph. See forward.cpp.
#pragma once

#include <vector>

#include "grad/reverse.h"

namespace pullback {

struct TangentRequest {
  GradientRequest of;                  // its ys, xs, stop and overrides
  std::vector<Ref<Node>> xs_tangents;  // one per x; a null entry means ones
  std::vector<Ref<Node>> masks;        // empty, or one per x: its tangent is zero where it is false
};

// One entry per y: Σ over xs of the derivative of y by x, applied to the tangent of x, where the
// derivative is the one that gradients() transposes. Null where no differentiable path exists.
std::vector<Ref<Node>> tangents(const TangentRequest& request);

}  // namespace pullback
