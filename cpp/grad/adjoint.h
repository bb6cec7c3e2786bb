// Adjoint: the cotangent of one node while the reverse pass collects it. Contributions are brought
// to the node's shape and added; structural zeros stay a mask for as long as they can.
#pragma once

#include "graph/rule.h"

namespace pullback {

// c with its structural zeros also outside `mask`.
Cotangent masked(const Cotangent& c, const Ref<Node>& mask);

class Adjoint {
 public:
  // Adds a contribution; sums it over broadcast axes down to `shape` (that of the node).
  void add(Cotangent contribution, const Shape& shape);

  Cotangent::Kind kind() const { return sum_.kind; }
  const Cotangent& cotangent() const { return sum_; }
  const Ref<Node>& value() const { return sum_.value; }
  const Ref<Node>& mask() const { return sum_.mask; }
  // The cotangent as a plain tensor, masked entries zero; null unless kind() is Value.
  Ref<Node> dense();

 private:
  Cotangent sum_;
};

}  // namespace pullback
