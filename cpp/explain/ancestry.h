// Ancestry: what some tensors were made from, for explanations. Unlike the reverse pass, which sees
// what a gradient passes, this sees all: what stops one, what is not tracked, and, while the
// program records (graph/recorder.h), what has been computed and let go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grad/reverse.h"
#include "graph/recorder.h"

namespace pullback {

struct Ancestor {
  uint64_t seq = 0;
  NodeRef node;      // null: it is gone, and only its record is left
  std::string name;  // of the operation; empty where nothing is known
  std::optional<DType> dtype;
  uint64_t variable = 0;         // of a read
  std::optional<double> scalar;  // a Python number
  bool tracked = false;
  bool custom = false;  // by a user's custom_gradient
  uint32_t site = 0;
  std::vector<uint64_t> inputs;  // what a gradient would go to; what it was made from, if none does
  bool passes = false;           // whether a gradient may go there
  Ref<Rule> rule;                // if another rule than the operation's own says how
  bool stopped = false;          // by the request's stop_gradients
  bool recorded = true;          // by the request's tape
};

// By the number of creation. With `assignments` also what was assigned to variables before they
// were read, as far as it was recorded; a gradient never goes there.
// `also` are numbers of tensors, alive or recorded, to start from beside the ys.
std::vector<Ancestor> ancestry(const GradientRequest& request, const std::vector<uint64_t>& also,
                               bool assignments);

}  // namespace pullback
