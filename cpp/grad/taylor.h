// Taylor coefficients: derivatives of any order along a path. The method is in taylor.cpp.
#pragma once

#include <vector>

#include "grad/reverse.h"

namespace pullback {

// What something is along a path: its derivatives there, from the first on. Null is zero.
using Terms = std::vector<NodeRef>;

struct PathRequest {
  GradientRequest of;        // its ys, xs, stop and overrides
  std::vector<Terms> terms;  // of each x, which moves by these alone, be it made of others
  size_t order = 1;          // the last one that is wanted
};

// The terms of each y, `order` of them. The first is what tangents() gives.
std::vector<Terms> along_path(const PathRequest& request);

}  // namespace pullback
