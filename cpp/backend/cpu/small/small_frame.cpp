// The frame of a small program: places for values, constants, and codes that move them.
#include <algorithm>

#include "backend/cpu/small/small_compiler.h"

namespace pullback {
namespace {

constexpr int64_t kMostFrameBytes = 128 * 1024;
constexpr int32_t kUnused =
    128;  // bytes: operands that a code does not have are in the first block

}  // namespace

bool SmallCompiler::fits() const { return program_.frame_bytes <= kMostFrameBytes; }

int32_t SmallCompiler::take(int64_t bytes) {
  const int64_t at = std::max<int64_t>(program_.frame_bytes, kUnused);
  program_.frame_bytes = at + round_up(std::max<int64_t>(bytes, 1), 8);
  if (program_.frame_bytes > kMostFrameBytes) return kUnused;  // see fits()
  blocks_.push_back(static_cast<int32_t>(at));
  return static_cast<int32_t>(at);
}

SmallCompiler::Code& SmallCompiler::add(Kind kind, int32_t out, int32_t a, int32_t n) {
  Code code{kind};
  code.n = n;
  code.out = out;
  code.a = a;
  program_.code.push_back(code);
  return program_.code.back();
}

void SmallCompiler::copy(int32_t out, int32_t a, int64_t bytes) {
  if (out == a || bytes == 0) return;
  const Kind kind = bytes == 1   ? Kind::Move1
                    : bytes == 2 ? Kind::Move2
                    : bytes == 4 ? Kind::Move4
                    : bytes == 8 ? Kind::Move8
                                 : Kind::Copy;
  add(kind, out, a, static_cast<int32_t>(bytes));
}

void SmallCompiler::load(int32_t out, Place from, int64_t bytes) {
  if (!from.external) return copy(out, from.at, bytes);
  if (bytes) add(Kind::Pull, out, from.at, static_cast<int32_t>(bytes));
}

void SmallCompiler::store(Place to, int32_t a, int64_t bytes) {
  if (!to.external) return copy(to.at, a, bytes);
  if (bytes) add(Kind::Push, to.at, a, static_cast<int32_t>(bytes));
}

int32_t SmallCompiler::constant(DType dtype, Scalar value, int32_t count) {
  const int32_t at = take(count * size_of(dtype));
  program_.constants.push_back({at, count, dtype, value, {}});
  return at;
}

std::optional<int32_t> SmallCompiler::splat(const Scope& scope, const ScalarLoad& load,
                                            int32_t count) {
  if (!load.scalar) return constant(load.dtype, load.constant, count);
  const auto& number = scope.scalars[load.scalar->position];
  if (const auto* value = std::get_if<Scalar>(&number)) return constant(load.dtype, *value, count);
  if (!std::holds_alternative<RunScalar>(number)) return std::nullopt;
  const int32_t at = constant(load.dtype, Scalar{}, count);
  program_.constants.back().scalar = std::get<RunScalar>(number);
  return at;
}

int32_t SmallCompiler::number(int64_t value) {
  Scalar scalar{};
  scalar.i = value;
  return constant(DType::Int64, scalar);
}

void SmallCompiler::start(const Stack& stack, int32_t base, int64_t first, bool external) {
  const int64_t offset = first * stack.bytes;
  if (external) {
    add(Kind::Cursor, stack.cursor, base).value = offset;
  } else {
    add(Kind::Address, stack.cursor, static_cast<int32_t>(base + offset));
  }
}

void SmallCompiler::pull(const Stack& stack, bool backward) {
  const Kind kind = stack.bytes == 8 ? Kind::Pull8 : Kind::Pull;
  add(kind, stack.at, stack.cursor, static_cast<int32_t>(stack.bytes)).value =
      backward ? -stack.bytes : stack.bytes;
}

void SmallCompiler::push(const Stack& stack, int32_t from, bool backward) {
  const Kind kind = stack.bytes == 8 ? Kind::Push8 : Kind::Push;
  add(kind, stack.cursor, from, static_cast<int32_t>(stack.bytes)).value =
      backward ? -stack.bytes : stack.bytes;
}

}  // namespace pullback
