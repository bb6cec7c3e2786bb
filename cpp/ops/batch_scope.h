// Random draws for a batch that is still to be made.
#pragma once

namespace pullback {

// While one lives, what this thread draws at random has no value yet, as it belongs to a batch that
// is still to be made.
struct BatchScope {
  BatchScope();
  ~BatchScope();
  BatchScope(const BatchScope&) = delete;
  BatchScope& operator=(const BatchScope&) = delete;
  static bool active();
};

}  // namespace pullback
