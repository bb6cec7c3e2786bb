// NativeCode: a small program as instructions of the processor, for x86-64 systems with the System
// V calling convention. Elsewhere, and if the system grants no executable memory, the program is
// interpreted, which has the same bits. Start at compile_native().
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/small/small_program.h"

#if defined(__x86_64__) && defined(__unix__)
#define PULLBACK_NATIVE_CODE 1
#else
#define PULLBACK_NATIVE_CODE 0
#endif

namespace pullback {

class NativeCode {
 public:
  // `bytes`: the instructions. `slow`: codes that they call, each followed by Stop.
  static std::shared_ptr<const NativeCode> load(const std::vector<uint8_t>& bytes,
                                                std::vector<SmallProgram::Code> slow);
  ~NativeCode();
  NativeCode(const NativeCode&) = delete;
  NativeCode& operator=(const NativeCode&) = delete;

  int64_t bytes() const { return size_; }
  // Stores the code that failed, if one did.
  Status run(char* frame, SmallBuffers& buffers, const SmallProgram& program,
             const SmallProgram::Code** at) const;

 private:
  NativeCode(void* memory, int64_t size) : memory_(memory), size_(size) {}

  void* memory_;
  int64_t size_;
  std::vector<SmallProgram::Code> slow_;
};

// Null where programs are interpreted. The program must exist as long as the code.
std::shared_ptr<const NativeCode> compile_native(const SmallProgram& program);

}  // namespace pullback
