// Dependence: which inputs of a body each of its roots depends on, found by one walk. Derivatives
// and batches of a loop use it to find the carries that an input reaches through any number of
// iterations. Start at Dependence::iterated.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operation.h"

namespace pullback {

using Flags = std::vector<uint8_t>;  // one for each input or each root of a body

class Dependence {
 public:
  explicit Dependence(const Body& body);

  // For each root, flags the inputs that the flagged roots depend on; and the other way round.
  Flags inputs_of(const Flags& roots) const;
  Flags roots_of(const Flags& inputs) const;

  // Flags also the carries that depend on a flagged input in a later iteration: root k is input k
  // of the next one. `allowed`: the carries that may be flagged.
  Flags iterated(Flags inputs, const Flags& allowed) const;

 private:
  std::vector<std::vector<uint32_t>> inputs_;  // per root
  std::vector<std::vector<uint32_t>> roots_;   // per input
};

}  // namespace pullback
