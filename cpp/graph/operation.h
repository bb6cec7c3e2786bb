// Operations with several outputs, and the bodies of loops and branches.
//
// Such an operation is a node without a value; each output is a node of its own that has the
// operation as an input: a `result` of a custom_call, an `output` of a loop, a branch or a routine.
// Operation holds what the node itself has no room for. RoutineForm, which plans contain too, is in
// graph/routine.h.
//
// A Body is a closed graph of which no node is part of the graph around it. Tensors from outside
// that a body uses became inputs when it was closed (ops/body.h), so the inputs of the operation
// include everything that the body depends on.
//
// Read Body and LoopForm first; lowering is in plan/passes/lower_control.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/closed_graph.h"
#include "graph/input_source.h"
#include "graph/routine.h"

namespace pullback {

// Inputs: arguments, placeholders for tensors used from outside, and the draws' seeds and counters.
struct Body : ClosedGraph {
  Body() : ClosedGraph(Extent::Body) {}
  std::string name;  // of the function and its place, for errors; may be empty

  // Cached by the planner: the key of the body.
  struct Planned {
    virtual ~Planned() = default;
  };
  std::unique_ptr<Planned> planned;
};

// A loop without its bodies: a scan, as lax.scan in JAX.
//
// Inputs of a loop: the carry, the scanned inputs (`xs`, one entry of the first axis for each
// iteration), and constants. The body has the same inputs for one iteration. Its roots are the next
// carry, then one entry of each stacked output (`ys`). Outputs of a loop:
//
//   the final carry;
//   the stacked outputs;
//   the number of iterations (int64);
//   the residuals: for each carry its values at the start of every iteration, stacked. A loop whose
//   number of iterations is unknown has none.
//
enum class LoopEnd : uint8_t {
  Trips,      // after a number of iterations that is part of the form
  Condition,  // when the second body, the condition, returns false
  Count,      // after the number of iterations that the last input holds (int64, rank 0)
};

// Entry p of a stacked array belongs to iteration p; if `reversed`, to iteration trips - 1 - p.
struct LoopForm {
  int32_t carries = 0, stacked_in = 0, stacked_out = 0;
  int64_t trips = 0;  // number of iterations, if it is known
  bool reversed = false;
  int64_t memory = 0;  // bytes that the residuals of a gradient may take; 0: no limit
  LoopEnd end = LoopEnd::Trips;

  bool has_trips() const { return end == LoopEnd::Trips; }
};

struct Operation {
  int64_t refs = 0;
  std::vector<TensorType> outputs;  // of all outputs, whether their nodes still exist or not
  // Loop: one iteration, then the condition or the body of the replayed loop. Branch: the choices.
  std::vector<Ref<Body>> bodies;
  // For each body, the sources of its inputs.
  std::vector<std::vector<InputSource>> inputs;
  LoopForm loop;
  RoutineForm form;   // of a routine
  int64_t batch = 1;  // of a routine: number of matrices

  // The reverse of a loop of unknown length replays that loop (its second body) for the residuals.
  // Entry r is the carry of the replayed loop that scanned input r reads. Such a scanned input is
  // not an input of the operation.
  std::vector<int32_t> residuals;
  // For each carry, a cotangent: the input of the replayed body that it belongs to.
  std::vector<int32_t> cotangents_of;

  bool replays() const { return !residuals.empty(); }
};

}  // namespace pullback
