// BatchScope: random draws of a function that vmap will batch.
#pragma once

namespace pullback {

// While one exists, random draws of this thread stay pending: they will be rebuilt with a batch
// axis.
struct BatchScope {
  BatchScope();
  ~BatchScope();
  BatchScope(const BatchScope&) = delete;
  BatchScope& operator=(const BatchScope&) = delete;
  static bool active();
};

}  // namespace pullback
