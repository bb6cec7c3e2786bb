// Emits moves, counts of loops, and room in buffers. Start at NativeCompiler::emit_move.
#include <cstring>

#include "backend/cpu/small/native_compiler.h"

#if PULLBACK_NATIVE_CODE

namespace pullback {
namespace {

constexpr int32_t kMostCopied = 64;  // bytes, by moves whose values stay in registers
constexpr int32_t kMostMoved = 512;  // bytes, by other moves

// The largest part of some bytes that one instruction moves.
int32_t part_of_bytes(int32_t bytes) { return bytes >= 16 ? 16 : bytes >= 8 ? 8 : 4; }

}  // namespace

// Moves n bytes; a pointer, if there is one, is in rax.
void NativeCompiler::move_block(int32_t out, bool to_pointer, int32_t in, bool from_pointer,
                                int32_t n) {
  for (int32_t i = 0; i < n;) {
    const int32_t part = part_of_bytes(n - i);
    move_part(from_pointer, 0x10, kScratch, in + i, part);
    move_part(to_pointer, 0x11, kScratch, out + i, part);
    i += part;
  }
  if (!to_pointer) overwrite(out, n);
}

bool NativeCompiler::emit_move(const SmallProgram::Code& c) {
  const bool small = c.value == static_cast<int32_t>(c.value);
  const bool words = c.n % 8 == 0 && c.n <= kMostCopied;
  const bool moved = c.n % 4 == 0 && c.n <= kMostMoved;
  switch (c.kind) {
    case SmallProgram::Move1:
      if (const auto mask = cached(c.a, 1)) {
        result(*mask, c.out, 1);
        return true;
      }
      load_byte(c.a);  // a bool or an integer
      overwrite(c.out, 1);
      store_byte(c.out);
      return true;
    case SmallProgram::Move4:
    case SmallProgram::Move8: {
      const int bytes = c.kind == SmallProgram::Move8 ? 8 : 4;
      result(in_register(c.a, bytes, {}), c.out, bytes);
      return true;
    }
    case SmallProgram::Copy:
      if (!moved) return false;
      if (!words) {
        move_block(c.out, false, c.a, false, c.n);
        return true;
      }
      for (int32_t i = 0; i < c.n; i += 8) result(in_register(c.a + i, 8, {}), c.out + i, 8);
      return true;
    case SmallProgram::Pull:
    case SmallProgram::Pull8:
      if (!moved || !small) return false;
      integer(true, 0x8b, c.a);
      if (!words) move_block(c.out, false, c.length, true, c.n);
      for (int32_t i = 0; words && i < c.n; i += 8) {
        const int reg = new_register({});
        move_part(true, 0x10, reg, c.length + i, 8);
        result(reg, c.out + i, 8);
      }
      if (c.value == 0) return true;
      advance(c.a, static_cast<int32_t>(c.value));
      overwrite(c.a, 8);
      return true;
    case SmallProgram::Push:
    case SmallProgram::Push8:
      if (!moved || !small) return false;
      integer(true, 0x8b, c.out);
      if (!words) move_block(c.length, true, c.a, false, c.n);
      for (int32_t i = 0; words && i < c.n; i += 8) {
        move_part(true, 0x11, in_register(c.a + i, 8, {}), c.length + i, 8);
      }
      if (c.value == 0) return true;
      advance(c.out, static_cast<int32_t>(c.value));
      overwrite(c.out, 8);
      return true;
    default:
      return false;
  }
}

void NativeCompiler::emit_count(const SmallProgram::Code& c) {
  integer(true, 0x8b, c.a);
  bytes({0x48, 0x05});  // add rax
  immediate(static_cast<int32_t>(c.value));
  integer(true, 0x03, c.out);
  overwrite(c.out, 8);
  integer(true, 0x89, c.out);
}

// Values keep their registers: after a call they are read again.
void NativeCompiler::emit_reserve(int32_t index) {
  const SmallProgram::Code& c = program_.code[index];
  for (const int32_t at : {c.out, c.a, c.b}) overwrite(at, 8);
  integer(true, 0x8b, c.out);
  integer(true, 0x3b, c.a);
  bytes({0x0f, 0x80 | static_cast<int>(Condition::NotEqual)});
  const size_t enough = bytes_.size();
  immediate(int32_t{0});
  const auto values = register_of_;
  Loop* const loop = loop_;
  emit_slow(index);
  register_of_ = values;
  loop_ = loop;
  for (const auto& [at, value] : values) load(value.reg, at, value.bytes);
  const auto distance = static_cast<int32_t>(bytes_.size() - enough - 4);
  std::memcpy(&bytes_[enough], &distance, 4);
}

}  // namespace pullback

#endif
