// BodyDependence: which inputs of a body each of its roots depends on, found by one walk.
// Derivatives and batches of a loop use it to find the carries that an input reaches through any
// number of iterations. Start at BodyDependence::iterated.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operation.h"

namespace pullback {

using Flags = std::vector<uint8_t>;  // one for each input or each root of a body

class BodyDependence {
 public:
  explicit BodyDependence(const Body& body);

  // False if the body contains a loop, a branch or another operation with several outputs, each of
  // which is taken to depend on all of its inputs.
  bool is_exact() const { return exact_; }

  // Flags the inputs that the flagged roots depend on.
  Flags inputs_of(const Flags& roots) const;
  // Flags the roots that depend on a flagged input.
  Flags roots_of(const Flags& inputs) const;

  // Flags also the carries that depend on a flagged input in a later iteration: root k is input k
  // of the next one. `allowed`: the carries that may be flagged.
  Flags iterated(Flags inputs, const Flags& allowed) const;

 private:
  bool depends(size_t root, size_t input) const {
    return (sets_[root * words_ + input / 64] >> input % 64 & 1) != 0;
  }

  size_t inputs_, roots_;
  size_t words_;
  std::vector<uint64_t> sets_;  // per root, a bit for each input
  bool exact_ = true;
};

}  // namespace pullback
