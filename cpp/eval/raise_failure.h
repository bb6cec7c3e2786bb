// The error of a run that has failed.
#pragma once

#include "plan/backend.h"

namespace pullback {

[[noreturn]] void raise(const Plan& plan, const Status& status);

}  // namespace pullback
