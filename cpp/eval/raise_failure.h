// Raises the error of a failed run: turns the Status of a backend into a message that names the
// operation.
#pragma once

#include "plan/backend.h"

namespace pullback {

[[noreturn]] void raise(const Plan& plan, const Status& status, Device device);

}  // namespace pullback
