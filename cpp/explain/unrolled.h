// Unrolled loops and inlined branches: ordinary operations that compute what each iteration, or the
// chosen branch, computed. Used by explanations. Start at unrolled().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

// A range of iterations, or the chosen branch.
struct UnrolledPart {
  uint64_t begin, end;   // creation numbers of its nodes
  int64_t first, count;  // its iterations, or the number of the branch
  bool closed;           // these iterations form a loop again
  Ref<Body> body;
  // Creation numbers of copies and of their originals in the body.
  std::vector<std::pair<uint64_t, uint64_t>> copies;
};

struct Unrolled {
  std::vector<NodeRef> outputs;  // replace the operation's outputs; null if not wanted
  std::vector<UnrolledPart> parts;
};

// `operation` applied to `inputs`; `number` is its number of iterations, or the branch that it
// took. A long loop becomes several shorter loops. nullopt if it cannot be divided: a part of a
// loop that draws random numbers would need its first position.
std::optional<Unrolled> unrolled(const Node* operation, std::span<Node* const> inputs,
                                 int64_t number, std::span<const uint8_t> wanted);

}  // namespace pullback
