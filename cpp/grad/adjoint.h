// Adjoint: the cotangent of one node while the reverse pass collects it. Contributions are brought
// to the node's shape and added; structural zeros stay a mask for as long as they matter.
#pragma once

#include <vector>

#include "grad/masks.h"
#include "graph/rule.h"

namespace pullback {

class Adjoint {
 public:
  // Adds a contribution; sums it over broadcast axes down to `shape` (that of the node). `zeros`
  // says whether the node cares for structural ones.
  void add(Cotangent contribution, const Shape& shape, Zeros zeros = Zeros::Drop);

  Cotangent::Kind kind() const { return kind_; }
  // The cotangent where mask() holds; elsewhere anything, but zero if clean().
  const Ref<Node>& value() const { return value_; }
  bool clean() const { return clean_; }
  // Null: no structural zeros.
  const Ref<Node>& mask();
  // The cotangent as a plain tensor, masked entries zero; null unless kind() is Value.
  Ref<Node> dense();

 private:
  Cotangent::Kind kind_ = Cotangent::None;
  bool clean_ = false;
  Ref<Node> value_;
  std::vector<Ref<Node>> masks_;  // it may be other than zero in any of them; none: everywhere
};

}  // namespace pullback
