// Ancestry: the nodes from which some tensors were computed, for explanations.
//
// The reverse pass visits only nodes that a gradient passes. Ancestry visits all: nodes that stop a
// gradient, untracked nodes, and, while the program records (graph/recorder.h), nodes that were
// computed and freed. Under the interpreter lock. Start at Ancestor and ancestry().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grad/reverse.h"
#include "graph/recorder.h"

namespace pullback {

struct Ancestor {
  uint64_t seq = 0;
  NodeRef node;      // null: freed, and only its record is left
  std::string name;  // of the operation; empty if unknown
  std::optional<DType> dtype;
  uint64_t variable = 0;         // number of the variable that it reads, or 0
  std::optional<double> scalar;  // value of a Python number
  bool tracked = false;
  bool custom = false;  // made by a user's custom_gradient
  uint32_t site = 0;
  std::vector<uint64_t> inputs;  // inputs that get a gradient; all inputs if none does
  // Of a composite whose gradient passes the operations inside: the tensors that it was given.
  std::vector<uint64_t> given;
  bool passes = false;   // a gradient may pass
  Ref<Rule> rule;        // null: the rule of the operation's own row
  bool stopped = false;  // by the request's stop_gradients
  bool recorded = true;  // by the request's tape
};

// The ancestors, by creation number. With `assignments` also the values assigned to variables
// before they were read, if they were recorded; gradients never reach those. `also` lists further
// tensors to start from, alive or recorded, by number.
std::vector<Ancestor> ancestry(const GradientRequest& request, const std::vector<uint64_t>& also,
                               bool assignments);

}  // namespace pullback
