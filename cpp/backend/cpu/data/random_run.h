// Steps of random numbers and ranges.
#pragma once

#include "backend/common/slots.h"

namespace pullback {

Status run_random(const Random& random, const Slots& slots);
Status run_iota(const Iota& iota, const Slots& slots);

}  // namespace pullback
