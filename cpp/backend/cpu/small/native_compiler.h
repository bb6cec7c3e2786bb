// NativeCompiler: translates the codes of a small program to x86-64.
//
// Each code becomes a few instructions. The frame stays the home of all values: a result is stored
// at once, and is also read from its register by later codes of the same straight line. So no
// register is ever spilled, and calls and jumps only forget what the registers have. Arithmetic on
// one element is scalar SSE2, whose results are those of the kernels; everything else is a call of
// the kernel or of the interpreter.
//
// rbx: frame; r13: NativeContext; r12: backward jumps until the next check for an interrupt; xmm0
// to xmm13: values; xmm15, rax, rcx: temporaries. native_elements.cpp emits codes of one element,
// native_code.cpp all others. Start at NativeCompiler::compile (native_code.cpp).
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backend/cpu/small/native_assembler.h"
#include "backend/cpu/small/native_code.h"
#include "backend/cpu/small/small_program.h"

namespace pullback {

class NativeCompiler : Assembler {
 public:
  explicit NativeCompiler(const SmallProgram& program) : program_(program) {}
  std::shared_ptr<const NativeCode> compile();

 private:
  using Code = SmallProgram::Code;
  static constexpr int kValueRegisters = 14;
  static constexpr int kScratch = 15;

  void forget() { register_of_.clear(); }
  void forget_register(int reg) {
    std::erase_if(register_of_, [&](const auto& entry) { return entry.second.reg == reg; });
  }
  // Forgets values in memory that is written.
  void overwrite(int32_t at, int64_t bytes) {
    std::erase_if(register_of_, [&](const auto& entry) {
      return entry.first < at + bytes && at < entry.first + entry.second.bytes;
    });
  }
  std::optional<int> cached(int32_t at, int bytes) const {
    const auto found = register_of_.find(at);
    if (found == register_of_.end() || found->second.bytes != bytes) return std::nullopt;
    return found->second.reg;
  }
  // A register for a new value, other than the pinned ones.
  int new_register(std::initializer_list<int> pinned) {
    do {
      last_ = (last_ + 1) % kValueRegisters;
    } while (std::ranges::find(pinned, last_) != pinned.end());
    forget_register(last_);
    return last_;
  }
  void move_in(int reg, int32_t at, int bytes) {  // movsd, movss
    if (const auto from = cached(at, bytes)) {
      move_registers(reg, *from);
    } else {
      sse(bytes == 8 ? 0xf2 : 0xf3, 0x10, reg, at);
    }
  }
  int in_register(int32_t at, int bytes, std::initializer_list<int> pinned) {
    if (const auto reg = cached(at, bytes)) return *reg;
    const int reg = new_register(pinned);
    sse(bytes == 8 ? 0xf2 : 0xf3, 0x10, reg, at);
    register_of_[at] = {reg, bytes};
    return reg;
  }
  void result(int reg, int32_t at, int bytes) {
    overwrite(at, bytes);
    sse(bytes == 8 ? 0xf2 : 0xf3, 0x11, reg, at);
    register_of_[at] = {reg, bytes};
  }
  void operate(int prefix, int operation, int reg, int32_t at, int bytes) {
    if (const auto from = cached(at, bytes)) {
      sse_registers(prefix, operation, reg, *from);
    } else {
      sse(prefix, operation, reg, at);
    }
  }

  template <class Function>
  void call(Function* function) {
    call_function(function);
    forget();
  }
  // A jump to a code (program order) or to the end.
  void jump(std::optional<Condition> condition, int32_t code) {
    if (condition) {
      bytes({0x0f, 0x80 | static_cast<int>(*condition)});
    } else {
      byte(0xe9);
    }
    jumps_.push_back({bytes_.size(), code});
    immediate(int32_t{0});
  }

  void emit(int32_t index);
  void emit_jump(const Code& c);
  bool emit_move(const Code& c);
  bool emit_element(const Code& c);
  bool emit_unrolled(const Code& c);
  bool emit_float(Op op, int bytes, const Code& c);
  bool emit_integer(Op op, int bytes, const Code& c);
  bool emit_bool(Op op, const Code& c);
  bool emit_cast(const Code& c);
  bool emit_select(int bytes, const Code& c);
  void emit_compare(Op op, int bytes, const Code& c);
  void emit_mask(int operation, uint64_t mask, int bytes, const Code& c);
  void store_condition(Condition condition, int32_t at);
  void emit_call(int32_t index);
  void emit_pair(const Code& c);
  void emit_count(const Code& c);
  void emit_slow(int32_t index);
  void fail_if_nonzero(int32_t index);

  struct Cached {
    int reg;
    int bytes;
  };
  struct Jump {
    size_t at;     // of its distance
    int32_t code;  // target; kEnd: the end of the function
  };
  static constexpr int32_t kEnd = -1;

  const SmallProgram& program_;
  std::vector<Jump> jumps_;
  std::vector<SmallProgram::Code> slow_;
  std::unordered_map<int32_t, Cached> register_of_;  // by offset in the frame
  int last_ = 0;
};

}  // namespace pullback
