// Adjoint: the cotangent of one node while the reverse pass accumulates it. A contribution is
// summed to the node's shape and added; structural zeros stay a mask as long as Zeros
// (zeros/masks.h) requires it. Start at add().
#pragma once

#include <vector>

#include "grad/zeros/factored_mask.h"
#include "grad/zeros/masks.h"
#include "graph/rule.h"

namespace pullback {

class Adjoint {
 public:
  // With `rows`, what several takes send stays apart: see GradientRequest.
  explicit Adjoint(bool rows = false) : rows_(rows) {}

  // Adds a contribution, structural zeros outside `nonzero` and outside its own mask; sums it over
  // broadcast axes down to `shape` (that of the node). `zeros` says whether the node cares for
  // structural ones.
  void add(Cotangent contribution, const Shape& shape, Zeros zeros = Zeros::Drop,
           FactoredMask nonzero = {});

  Cotangent::Kind kind() const { return kind_; }
  // The cotangent in nonzero(); elsewhere anything, but zero if clean().
  const NodeRef& value() const { return value_; }
  bool clean() const { return clean_; }
  const FactoredMask& nonzero();
  // The cotangent as a plain tensor, masked entries zero; null unless kind() is Value. Forgets the
  // mask.
  NodeRef dense();
  // The same for one of several readers: the others still need the mask.
  NodeRef dense_copy() const { return Adjoint(*this).dense(); }

 private:
  Cotangent::Kind kind_ = Cotangent::None;
  bool clean_ = false;
  bool rows_;
  NodeRef value_;
  std::vector<FactoredMask> masks_;  // it may be other than zero in any of them; none: everywhere
};

// A derivative as it is answered. One that happens to be constant has a history as well: asking
// for its own gradient is no mistake, the answer is just None. Null stays null.
NodeRef with_history(NodeRef derivative);

}  // namespace pullback
