// Loops and branches as the ordinary operations that they stand for: one after the other what each
// iteration did, or what the chosen branch did. Explanations ask about those.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

// What stands for some iterations, or for the chosen branch.
struct UnrolledPart {
  uint64_t begin, end;   // the numbers of what was made for it
  int64_t first, count;  // its iterations, or the branch
  bool closed;           // these iterations are a loop again
  Ref<Body> body;
  // Of copies, and what they are copies of in the body.
  std::vector<std::pair<uint64_t, uint64_t>> copies;
};

struct Unrolled {
  std::vector<NodeRef> outputs;  // in place of the operation's; null where it is not wanted
  std::vector<UnrolledPart> parts;
};

// `operation` on `inputs`; `number` says for how many iterations it ran, or which branch it took.
// A long loop becomes several shorter ones. Nothing where it cannot be divided: in the parts of a
// loop that draws random numbers, each would have to know where it begins.
std::optional<Unrolled> unrolled(const Node* operation, std::span<Node* const> inputs,
                                 int64_t number, std::span<const uint8_t> wanted);

}  // namespace pullback
