// The forward pass: adds the nodes that compute tangents to the graph. See forward.cpp.
#pragma once

#include <memory>
#include <vector>

#include "grad/adjoint.h"
#include "grad/connectivity.h"
#include "grad/reverse.h"

namespace pullback {

struct TangentRequest {
  GradientRequest of;                // its ys, xs, stop and overrides
  std::vector<NodeRef> xs_tangents;  // one per x; a null entry means ones
  std::vector<NodeRef> masks;        // empty, or one per x: its tangent is zero where it is false
};

// One entry per y: Σ over xs of the derivative of y by x, applied to the tangent of x, where the
// derivative is the one that gradients() transposes. Null where no differentiable path exists.
std::vector<NodeRef> tangents(const TangentRequest& request);

// The same for one node after the other, for who says himself what the inputs' tangents are, over
// a graph that may grow (see taylor.cpp).
class NodeTangents {
 public:
  // The request must outlive it; its tangents are not used.
  static std::unique_ptr<NodeTangents> of(const TangentRequest& request);
  virtual ~NodeTangents() = default;

  virtual Connectivity& graph() = 0;
  // The tangent of a node by its number; `sent` has one for each input of its exit, null where
  // there is none.
  virtual Adjoint from(size_t at, const std::vector<Adjoint*>& sent) = 0;
  // Adds what is below `root` to the graph; the number of `root`, which takes the place of a
  // tangent of node `at`.
  virtual size_t extend(const NodeRef& root, size_t at) = 0;
  // Adds a leaf that an x moves.
  virtual size_t add_leaf(const NodeRef& node) = 0;
};

}  // namespace pullback
