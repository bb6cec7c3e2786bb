// Runs pooling steps: maxima, means and their cotangents over windows.
#pragma once

#include "backend/cpu/common/slots.h"

namespace pullback {

Status run_pool(const Pool& pool, const Slots& slots);

}  // namespace pullback
