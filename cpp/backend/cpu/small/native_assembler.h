// Assembler: appends the x86-64 instructions that NativeCompiler uses. Operands in memory are at
// [rbx + at]; integer instructions use rax, and al or eax of it. Opcodes: "Intel 64 and IA-32
// Architectures Software Developer's Manual", volume 2.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "backend/cpu/small/native_stores.h"

namespace pullback {

// Conditions of jumps and of setcc, as they are encoded.
enum class Condition : uint8_t {
  Equal = 4,
  NotEqual = 5,
  Less = 12,
  GreaterOrEqual = 13,
  LessOrEqual = 14,
  Greater = 15
};

class Assembler {
 protected:
  void byte(int b) { bytes_.push_back(static_cast<uint8_t>(b)); }
  void bytes(std::initializer_list<int> list) {
    for (const int b : list) byte(b);
  }
  template <class T>
  void immediate(T value) {
    uint8_t raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof value);
  }
  // An operand [rbx + at] for register or operation `reg`, which reads some bytes.
  void in_frame(int reg, int32_t at, int32_t bytes_read = 8) {
    if (bytes_read) stores_.read(at, bytes_read);
    byte(0x80 | (reg & 7) << 3 | 3);
    immediate(at);
  }
  // SSE: prefix 0xf2 (double), 0xf3 (float), 0x66 or 0 (none).
  void sse(int prefix, int operation, int reg, int32_t at) {
    if (prefix) byte(prefix);
    if (reg >= 8) byte(0x44);
    bytes({0x0f, operation});
    in_frame(reg, at, operation == 0x11 ? 0 : prefix == 0xf3 ? 4 : 8);
  }
  void sse_registers(int prefix, int operation, int reg, int from) {
    if (prefix) byte(prefix);
    if (reg >= 8 || from >= 8) byte(0x40 | (reg >= 8) << 2 | (from >= 8));
    bytes({0x0f, operation, 0xc0 | (reg & 7) << 3 | (from & 7)});
  }
  void move_registers(int to, int from) { sse_registers(0, 0x28, to, from); }  // movaps
  // rax or eax with memory: 0x8b load, 0x89 store, 0x03 add, 0x2b subtract, 0x3b compare.
  void integer(bool wide, int operation, int32_t at) {
    if (wide) byte(0x48);
    byte(operation);
    in_frame(0, at, operation == 0x89 ? 0 : wide ? 8 : 4);
  }
  void load_byte(int32_t at) {  // movzx eax
    bytes({0x0f, 0xb6});
    in_frame(0, at, 1);
  }
  void set_byte(Condition condition, int reg) {  // setcc: 0 al, 1 cl
    bytes({0x0f, 0x90 | static_cast<int>(condition), 0xc0 | reg});
  }
  void move_from_rax(int reg) {  // movq
    bytes({0x66, reg >= 8 ? 0x4c : 0x48, 0x0f, 0x6e, 0xc0 | (reg & 7) << 3});
  }
  void store_byte(int32_t at) {  // al
    byte(0x88);
    in_frame(0, at, 0);
  }
  void move_address(int opcode_rex, int opcode, const void* address) {  // mov r64, imm64
    bytes({opcode_rex, opcode});
    immediate(reinterpret_cast<uint64_t>(address));
  }
  template <class Function>
  void call_function(Function* function) {
    move_address(0x48, 0xb8, reinterpret_cast<const void*>(function));  // mov rax
    bytes({0xff, 0xd0});
  }
  void address_argument(int rex, int modrm_reg, int32_t at) {  // lea reg, [rbx + at]
    bytes({rex, 0x8d});
    in_frame(modrm_reg, at, 0);
  }
  // Moves of 16, 8 or 4 bytes between a register and [rbx + at] or [rax + at]: 0x10 load, 0x11
  // store.
  void move_part(bool through_pointer, int operation, int reg, int32_t at, int32_t bytes_of_part) {
    if (!through_pointer && operation == 0x10) stores_.read(at, bytes_of_part);
    if (bytes_of_part < 16) byte(bytes_of_part == 8 ? 0xf2 : 0xf3);  // movsd, movss; else movups
    if (reg >= 8) byte(0x44);
    bytes({0x0f, operation, 0x80 | (reg & 7) << 3 | (through_pointer ? 0 : 3)});
    immediate(at);
  }
  void advance(int32_t at, int32_t by) {  // add qword [rbx + at], by
    bytes({0x48, 0x81});
    in_frame(0, at);
    immediate(by);
  }

  std::vector<uint8_t> bytes_;
  NativeStores stores_;
};

}  // namespace pullback
