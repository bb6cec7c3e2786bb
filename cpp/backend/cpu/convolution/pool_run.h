// Runs pooling steps: max_pool, and the operations that move its cotangents and tangents.
#pragma once

#include "backend/common/slots.h"

namespace pullback {

Status run_pool(const Pool& pool, const Slots& slots);

}  // namespace pullback
