// What holds a function of the program: the origin of the scalar that says which it is.
#pragma once

#include "base/host.h"
#include "graph/rule.h"

namespace pullback {

struct HostFunction : Origin, HostCallable {
  // Takes arrays with more axes in front as well: one call for a batch.
  bool takes_batches = false;
};

}  // namespace pullback
