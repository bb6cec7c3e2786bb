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
  std::vector<NodeRef> masks;        // empty, or one per x: its tangent is zero outside of it
};

// One entry per y: Σ over xs of the derivative of y by x, applied to the tangent of x. The
// derivative is the one that gradients() transposes. Null if no differentiable path exists.
std::vector<NodeRef> tangents(const TangentRequest& request);

// Tangents of single nodes, for a caller that provides the tangents of the inputs, over a graph
// that may grow (see taylor.cpp).
class NodeTangents {
 public:
  // The request must outlive it; its tangents are not used.
  static std::unique_ptr<NodeTangents> of(const TangentRequest& request);
  virtual ~NodeTangents() = default;

  virtual Connectivity& graph() = 0;
  // The tangent of a node, by its number; `sent` has the tangent of each input of its edges, null
  // for none.
  virtual Adjoint from(size_t at, const std::vector<Adjoint*>& sent) = 0;
  // Adds the nodes below `root`, which computes a tangent of node `at`; returns the number of
  // `root`.
  virtual size_t extend(const NodeRef& root, size_t at) = 0;
  // Adds a leaf that depends on an x.
  virtual size_t add_leaf(const NodeRef& node) = 0;
};

}  // namespace pullback
