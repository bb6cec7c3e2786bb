#include "backend/cpu/slots.h"

#include <cstdlib>

#include "base/error.h"
#include "runtime/memory.h"

namespace pullback {
namespace {

struct ThreadBlock {
  char* data = nullptr;
  int64_t bytes = 0;
  ~ThreadBlock() { std::free(data); }
};

}  // namespace

char* thread_scratch(int64_t bytes) noexcept {
  thread_local ThreadBlock block;
  if (bytes > block.bytes) {
    const int64_t size = round_up(bytes, 4096);
    std::free(block.data);
    block.data = static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>(size)));
    block.bytes = block.data ? size : 0;
  }
  return block.data;
}

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
