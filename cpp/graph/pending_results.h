// Pending small results: pending nodes that are much smaller than their inputs.
//
// In `norms.append(pb.sum(x))` inside a loop over x, no sum is evaluated and each keeps the x of
// its step alive. So such nodes are listed when they are made. When the memory that they may keep
// alive has grown, the layer above evaluates those that are the last to need it
// (eval/flush_pending.cpp). The list itself keeps nothing alive. Under the interpreter lock.
#pragma once

#include <array>
#include <vector>

#include "graph/node.h"

namespace pullback {

// True if a result of the operation may be much smaller than an input. Views of the whole value and
// elementwise operations have no such result; a custom node holds the inputs of its rule.
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

// Lists a new node of such an operation if its result is small enough.
void note_pending_result(Node* node);

// True if the listed nodes keep so much memory alive that flush_pending() should run.
inline bool flush_due = false;

// Returns the nodes that are still pending, in creation order, and empties the list.
std::vector<NodeRef> take_pending_results();
// Lists the remaining nodes again. The next flush is due when there are twice as many.
void put_back_pending(const std::vector<NodeRef>& remaining);

}  // namespace pullback
