#include "graph/walk.h"

namespace pullback {

uint32_t new_epoch() {
  static uint32_t epoch = 0;
  return ++epoch;
}

}  // namespace pullback
