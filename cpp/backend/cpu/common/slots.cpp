// StepMemory: scratch memory of one step. Steps do not throw, so a failed allocation leaves a null
// pointer, and the step returns Problem::Memory.
#include "backend/cpu/common/slots.h"

#include "base/error.h"
#include "runtime/memory.h"

namespace pullback {

StepMemory::StepMemory(int64_t bytes) noexcept : bytes_(bytes), data_(nullptr) {
  try {
    data_ = static_cast<char*>(allocate_bytes(bytes));
  } catch (const Error&) {
  }
}

StepMemory::~StepMemory() {
  if (data_) free_bytes(data_, bytes_);
}

}  // namespace pullback
