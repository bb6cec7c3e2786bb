// Scratch memory of one step: a run does not throw, so what the allocator refuses is null here and
// Problem::Memory there.
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
