// Taylor coefficients: derivatives of any order along a path. The method is in taylor.cpp.
#pragma once

#include <vector>

#include "grad/reverse.h"

namespace pullback {

// The derivatives of a tensor along a path, from the first on. Null is zero.
using Terms = std::vector<NodeRef>;

struct PathRequest {
  GradientRequest of;        // its ys, xs, stop and overrides
  std::vector<Terms> terms;  // of each x, which follows these terms even if it depends on other xs
  size_t order = 1;          // the last wanted derivative
};

// The terms of each y, `order` of them. The first is the result of tangents().
std::vector<Terms> along_path(const PathRequest& request);

}  // namespace pullback
