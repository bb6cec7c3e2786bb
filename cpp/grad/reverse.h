// The reverse pass: adds the nodes that compute a gradient to the graph. Takes a GradientRequest;
// reverse.cpp explains its three parts. Rules may run Python and release the interpreter lock.
#pragma once

#include <span>
#include <vector>

#include "graph/rule.h"

namespace pullback {

class Tape;

// The source of a gradient: a tensor, or all reads of a variable.
struct Source {
  NodeRef node;
  uint64_t variable = 0;  // if set: every read of that variable; node may be null
};

struct GradientRequest {
  std::vector<NodeRef> ys;
  std::vector<Source> xs;
  std::vector<NodeRef> grad_ys;  // empty, or one per y; a null entry means ones
  std::vector<NodeRef> masks;    // empty, or one per y: its cotangent is zero outside of it
  std::vector<Source> stop;      // constants with respect to every x
  const OverrideMap* overrides = nullptr;
  const Tape* tape = nullptr;  // null: any node counts; else only nodes recorded by it from
                               // tensors that it watched
  bool integers = false;       // integer tensors are differentiable through ring operations
  bool rows = false;           // takes at the same positions are not summed: see rows_of
};

// The overrides of the reverse pass that is calling a rule on this thread; null without one.
const OverrideMap* overrides_of_caller();

// One entry per x; null if no differentiable path exists, or if every rule on it returned None.
std::vector<NodeRef> gradients(const GradientRequest& request);

}  // namespace pullback
