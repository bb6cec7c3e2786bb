// Parts: pending nodes that are much smaller than what they are made from.
//
// `norms.append(pb.sum(x))` in a loop over x: nobody looks at the sums, and each of them keeps the
// x of its step alive. So parts are listed as they are made, and when what they may keep alive has
// grown, the layer above computes those that are the last to need it (eval/flush_pending.cpp). The
// list keeps nothing alive itself.
#pragma once

#include <array>
#include <vector>

#include "graph/node.h"

namespace pullback {

// Whether an operation may have a result much smaller than an input. What shows a value in another
// shape, and what is elementwise, has not; a custom node holds what its rule answers for.
constexpr bool makes_small_results(Op op) {
  const OpTraits& of = traits(op);
  switch (of.kind) {
    case OpKind::Leaf:
    case OpKind::Elementwise:
    case OpKind::Place:
      return false;
    case OpKind::View:
      return of.view == ViewKind::Slice || op == Op::custom;
    case OpKind::Fold:
    case OpKind::Pick:
      return true;
    case OpKind::Step:
      break;
  }
  return of.step == StepKind::ArgFold || of.step == StepKind::Product ||
         of.step == StepKind::Indexed || of.step == StepKind::Search ||
         of.step == StepKind::Convolve || of.step == StepKind::Pool;
}
inline constexpr auto kMakesSmallResults = [] {
  std::array<bool, kOps> out{};
  for (int op = 0; op < kOps; ++op) out[op] = makes_small_results(static_cast<Op>(op));
  return out;
}();

// Lists a new node of such an operation if it is a part.
void note_pending_result(Node* node);

// Whether parts that were listed keep so much alive that it is time to look at them.
inline bool flush_due = false;

// The parts that are still pending, in order of creation; the list is empty after it.
std::vector<NodeRef> take_pending_results();
// Lists what remains of them once more. The next look is when there are twice as many.
void put_back_pending(const std::vector<NodeRef>& parts);

}  // namespace pullback
