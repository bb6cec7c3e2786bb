// StepMemory: scratch memory of one step. Steps do not throw, so a failed allocation leaves a null
// pointer, and the step returns Problem::Memory.
#include "backend/common/slots.h"

#include "base/error.h"

namespace pullback {

StepMemory::StepMemory(int64_t bytes, DeviceMemory& memory) noexcept
    : memory_(memory), bytes_(bytes), data_(nullptr) {
  try {
    data_ = static_cast<char*>(memory_.allocate(bytes));
  } catch (const Error&) {
  }
}

StepMemory::~StepMemory() {
  if (data_) memory_.release(data_, bytes_);
}

}  // namespace pullback
