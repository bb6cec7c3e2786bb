// NativeCompiler: translates the codes of a small program to x86-64.
//
// Each code becomes a few instructions. The frame stays the home of all values: a result is stored
// at once, and is also read from its register by later codes of the same straight line. So no
// register is ever spilled; calls, and codes that jumps lead to, forget what the registers have.
// Stores that nothing reads are dropped in a last translation (NativeStores).
// An exception are values that a loop changes and that its first codes read: they stay in registers
// of their own between iterations. Arithmetic on one element is scalar SSE2, whose
// results are those of the kernels; everything else is a call of the kernel or of the interpreter.
//
// rbx: frame; r13: NativeContext; r12: backward jumps until the next check for an interrupt; xmm0
// to xmm8: values; xmm9 to xmm14: values of a loop; xmm15, rax, rcx: temporaries. A bool in a
// register is a mask of 64 bits. native_elements.cpp emits codes of one element, native_moves.cpp
// moves, native_code.cpp all others. Start at NativeCompiler::compile (native_code.cpp).
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
  static constexpr int kValueRegisters = 9;
  static constexpr int kLoopRegisters = 6;  // after those of values
  static constexpr int kScratch = 15;

  void forget() {
    register_of_.clear();
    loop_ = nullptr;
  }
  void forget_register(int reg) {
    std::erase_if(register_of_, [&](const auto& entry) { return entry.second.reg == reg; });
  }
  // Forgets values in memory that is written.
  void overwrite(int32_t at, int64_t bytes) {
    std::erase_if(register_of_, [&](const auto& entry) {
      return entry.first < at + bytes && at < entry.first + entry.second.bytes;
    });
    if (!kept_is_known_) written_.push_back({index_, at, bytes});
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
  // Reads memory. Bytes: 8, 4, or 1 for a bool.
  void load(int reg, int32_t at, int bytes) {
    if (bytes > 1) return sse(bytes == 8 ? 0xf2 : 0xf3, 0x10, reg, at);  // movsd, movss
    load_byte(at);
    this->bytes({0x48, 0xf7, 0xd8});  // neg rax
    move_from_rax(reg);
  }
  void move_in(int reg, int32_t at, int bytes) {
    if (const auto from = cached(at, bytes)) return move_registers(reg, *from);
    read_first(at, bytes);
    load(reg, at, bytes);
  }
  int in_register(int32_t at, int bytes, std::initializer_list<int> pinned) {
    if (const auto reg = cached(at, bytes)) return *reg;
    const int reg = new_register(pinned);
    move_in(reg, at, bytes);
    register_of_[at] = {reg, bytes};
    return reg;
  }
  void result(int reg, int32_t at, int bytes) {
    overwrite(at, bytes);
    register_of_[at] = {reg, bytes};
    if (!stores_.add(at, bytes)) return;
    if (bytes > 1) {
      sse(bytes == 8 ? 0xf2 : 0xf3, 0x11, reg, at);
    } else {
      sse_registers(0x66, 0x50, 0, reg);  // movmskpd eax
      this->bytes({0x83, 0xe0, 1});       // and eax, 1
      store_byte(at);
    }
  }
  void operate(int prefix, int operation, int reg, int32_t at, int bytes) {
    if (const auto from = cached(at, bytes)) {
      sse_registers(prefix, operation, reg, *from);
    } else {
      read_first(at, bytes);
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
    if (code != kEnd) stores_.leave();
    if (condition) {
      bytes({0x0f, 0x80 | static_cast<int>(*condition)});
    } else {
      byte(0xe9);
    }
    jumps_.push_back({bytes_.size(), code});
    immediate(int32_t{0});
  }

  void find_loops();
  void translate();
  void read_first(int32_t at, int bytes);
  void keep_values();
  void enter(int32_t code);

  void emit(int32_t index);
  void emit_jump(const Code& c);
  bool emit_move(const Code& c);
  bool emit_element(const Code& c);
  bool emit_unrolled(const Code& c);
  bool emit_packed(const Code& c);
  void move_block(int32_t out, bool to_pointer, int32_t in, bool from_pointer, int32_t n);
  bool emit_float(Op op, int bytes, const Code& c);
  bool emit_integer(Op op, int bytes, const Code& c);
  bool emit_bool(Op op, const Code& c);
  bool emit_masks(Op op, const Code& c);
  bool emit_cast(const Code& c);
  bool emit_select(int bytes, const Code& c);
  void emit_compare(Op op, int bytes, const Code& c);
  void emit_log_slope(int bytes, const Code& c);
  void load_bits(int reg, uint64_t bits);
  void emit_mask(int operation, uint64_t mask, int bytes, const Code& c);
  void store_condition(Condition condition, int32_t at);
  void emit_call(int32_t index);
  void emit_pair(const Code& c);
  void emit_count(const Code& c);
  void emit_reserve(int32_t index);
  void note_reads(const Code& c);
  void emit_slow(int32_t index);
  void fail_if_nonzero(int32_t index);

  struct Cached {
    int reg;
    int bytes;
  };
  // The value at an offset in the frame, and the register that has it in each iteration of a loop.
  struct Kept {
    int32_t at;
    int bytes;
    int reg;
  };
  // A loop whose first code is reached by its last one, and otherwise from the code before it.
  struct Loop {
    int32_t last = 0;
    std::vector<Kept> kept;
  };
  struct Write {
    int32_t code, at;
    int64_t bytes;
    bool covers(int32_t other) const { return at <= other && other < at + bytes; }
  };
  struct Jump {
    size_t at;     // of its distance
    int32_t code;  // target; kEnd: the end of the function
  };
  static constexpr int32_t kEnd = -1;

  const SmallProgram& program_;
  std::vector<uint8_t> targets_;             // of jumps, by code
  std::unordered_map<int32_t, Loop> loops_;  // by their first code
  std::vector<size_t> begins_;               // of the instructions of each code
  std::vector<Jump> jumps_;
  std::vector<SmallProgram::Code> slow_;
  std::unordered_map<int32_t, Cached> register_of_;  // by offset in the frame
  std::vector<Write> written_;
  Loop* loop_ = nullptr;  // whose first straight line is translated
  int32_t begin_of_loop_ = 0;
  bool kept_is_known_ = false;
  int32_t index_ = 0;  // of the code that is translated
  int last_ = 0;
};

}  // namespace pullback
