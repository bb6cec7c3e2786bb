// Emits codes of one element. Start at NativeCompiler::emit_element.
#include <bit>
#include <limits>

#include "backend/cpu/small/native_compiler.h"

#if PULLBACK_NATIVE_CODE

namespace pullback {
namespace {

constexpr int32_t kMostUnrolled = 8;  // elements of a call
constexpr int32_t kMostPacked = 256;  // bytes of an operand of a call

struct ElementBytes {
  int32_t out, a, others;
};
ElementBytes bytes_of_element(uint16_t kind) {
  const auto bytes = [](int dtype) {
    return static_cast<int32_t>(size_of(static_cast<DType>(dtype)));
  };
  if (kind < SmallProgram::Elements) {
    const int number = kind - SmallProgram::Casts;
    return {bytes(number % kComputeDTypes), bytes(number / kComputeDTypes), 0};
  }
  const int number = kind - SmallProgram::Elements;
  const auto op = static_cast<Op>(number / kComputeDTypes);
  const int32_t one = bytes(number % kComputeDTypes);
  const bool to_bool = op >= Op::equal && op <= Op::signbit;
  return {to_bool ? 1 : one, op == Op::where ? 1 : one, one};
}

static_assert(Op::equal < Op::greater_equal && Op::greater_equal < Op::logical_not &&
              Op::logical_not < Op::signbit && Op::signbit < Op::bitwise_and);

}  // namespace

void NativeCompiler::store_condition(Condition condition, int32_t at) {
  set_byte(condition, 0);
  overwrite(at, 1);
  store_byte(at);
}

// cmpsd: a mask, which is false for unordered operands, or true if they are to be not equal.
void NativeCompiler::emit_compare(Op op, int bytes_of_one, const Code& c) {
  const bool swapped = op == Op::greater || op == Op::greater_equal;
  const int32_t left = swapped ? c.b : c.a, right = swapped ? c.a : c.b;
  const int predicate = op == Op::equal                       ? 0
                        : op == Op::less || op == Op::greater ? 1
                        : op == Op::not_equal                 ? 4
                                                              : 2;
  const auto a = cached(left, bytes_of_one), b = cached(right, bytes_of_one);
  const int reg = new_register({a.value_or(-1), b.value_or(-1)});
  move_in(reg, left, bytes_of_one);
  operate(bytes_of_one == 8 ? 0xf2 : 0xf3, 0xc2, reg, right, bytes_of_one);
  byte(predicate);
  if (bytes_of_one == 4) sse_registers(0, 0x14, reg, reg);  // unpcklps: 64 bits
  result(reg, c.out, 1);
}

// The number with these bits.
void NativeCompiler::load_bits(int reg, uint64_t bits) {
  bytes({0x48, 0xb8});  // mov rax
  immediate(bits);
  move_from_rax(reg);
}

// xorps, andps with a mask.
void NativeCompiler::emit_mask(int operation, uint64_t mask, int bytes_of_one, const Code& c) {
  load_bits(kScratch, mask);
  const auto from = cached(c.a, bytes_of_one);
  const int reg = from ? new_register({*from}) : new_register({});
  move_in(reg, c.a, bytes_of_one);
  sse_registers(0, operation, reg, kScratch);
  result(reg, c.out, bytes_of_one);
}

// 1 / |a|; NaN for negative numbers.
void NativeCompiler::emit_log_slope(int bytes_of_one, const Code& c) {
  const bool wide = bytes_of_one == 8;
  const int prefix = wide ? 0xf2 : 0xf3;
  const int a = in_register(c.a, bytes_of_one, {});
  const int slope = new_register({a}), negative = new_register({a, slope});
  load_bits(kScratch, wide ? ~uint64_t{0} >> 1 : ~uint64_t{0} >> 33);
  sse_registers(0, 0x54, kScratch, a);  // andps
  load_bits(slope, wide ? std::bit_cast<uint64_t>(1.0) : std::bit_cast<uint32_t>(1.0f));
  sse_registers(prefix, 0x5e, slope, kScratch);  // divsd
  move_registers(negative, a);
  sse_registers(0, 0x57, kScratch, kScratch);       // xorps: 0
  sse_registers(prefix, 0xc2, negative, kScratch);  // cmpsd
  byte(1);                                          // less
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr float kNarrowNan = std::numeric_limits<float>::quiet_NaN();
  load_bits(kScratch, wide ? std::bit_cast<uint64_t>(kNan) : std::bit_cast<uint32_t>(kNarrowNan));
  sse_registers(0, 0x54, kScratch, negative);  // andps
  sse_registers(0, 0x55, negative, slope);     // andnps
  sse_registers(0, 0x56, negative, kScratch);  // orps
  result(negative, c.out, bytes_of_one);
}

bool NativeCompiler::emit_select(int bytes_of_one, const Code& c) {
  const int mask = in_register(c.a, 1, {});
  const int b = in_register(c.b, bytes_of_one, {mask});
  const int other = in_register(c.c, bytes_of_one, {mask, b});
  const int reg = new_register({mask, b, other});
  move_registers(reg, mask);
  move_registers(kScratch, mask);
  sse_registers(0, 0x54, reg, b);           // andps
  sse_registers(0, 0x55, kScratch, other);  // andnps
  sse_registers(0, 0x56, reg, kScratch);    // orps
  result(reg, c.out, bytes_of_one);
  return true;
}

bool NativeCompiler::emit_float(Op op, int bytes_of_one, const Code& c) {
  const int prefix = bytes_of_one == 8 ? 0xf2 : 0xf3;
  const auto binary = [&](int operation, int32_t right) {
    const auto a = cached(c.a, bytes_of_one), b = cached(right, bytes_of_one);
    const int reg = new_register({a.value_or(-1), b.value_or(-1)});
    move_in(reg, c.a, bytes_of_one);
    operate(prefix, operation, reg, right, bytes_of_one);
    result(reg, c.out, bytes_of_one);
    return true;
  };
  switch (op) {
    case Op::add:
      return binary(0x58, c.b);
    case Op::multiply:
      return binary(0x59, c.b);
    case Op::subtract:
      return binary(0x5c, c.b);
    case Op::divide:
      return binary(0x5e, c.b);
    case Op::square:
      return binary(0x59, c.a);
    case Op::sqrt: {
      const auto a = cached(c.a, bytes_of_one);
      const int reg = new_register({a.value_or(-1)});
      move_in(reg, c.a, bytes_of_one);
      sse_registers(prefix, 0x51, reg, reg);
      result(reg, c.out, bytes_of_one);
      return true;
    }
    case Op::negative:
      emit_mask(0x57, bytes_of_one == 8 ? uint64_t{1} << 63 : uint64_t{1} << 31, bytes_of_one, c);
      return true;
    case Op::abs:
      emit_mask(0x54, bytes_of_one == 8 ? ~uint64_t{0} >> 1 : ~uint64_t{0} >> 33, bytes_of_one, c);
      return true;
    case Op::log_slope:
      emit_log_slope(bytes_of_one, c);
      return true;
    case Op::where:
      return emit_select(bytes_of_one, c);
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
      emit_compare(op, bytes_of_one, c);
      return true;
    default:
      return false;
  }
}

bool NativeCompiler::emit_integer(Op op, int bytes_of_one, const Code& c) {
  const bool wide = bytes_of_one == 8;
  const auto arithmetic = [&](int operation) {
    integer(wide, 0x8b, c.a);
    integer(wide, operation, c.b);
    overwrite(c.out, bytes_of_one);
    integer(wide, 0x89, c.out);
    return true;
  };
  const auto compare = [&](Condition condition) {
    integer(wide, 0x8b, c.a);
    integer(wide, 0x3b, c.b);
    store_condition(condition, c.out);
    return true;
  };
  switch (op) {
    case Op::add:
      return arithmetic(0x03);
    case Op::subtract:
      return arithmetic(0x2b);
    case Op::where:
      return emit_select(bytes_of_one, c);
    case Op::equal:
      return compare(Condition::Equal);
    case Op::not_equal:
      return compare(Condition::NotEqual);
    case Op::less:
      return compare(Condition::Less);
    case Op::less_equal:
      return compare(Condition::LessOrEqual);
    case Op::greater:
      return compare(Condition::Greater);
    case Op::greater_equal:
      return compare(Condition::GreaterOrEqual);
    default:
      return false;
  }
}

// A bool operation whose first operand has a mask.
bool NativeCompiler::emit_masks(Op op, const Code& c) {
  const bool alone = op == Op::logical_not;
  const int operation = op == Op::logical_and ? 0x54 : op == Op::logical_or ? 0x56 : 0x57;
  const int a = in_register(c.a, 1, {});
  const int b = alone ? kScratch : in_register(c.b, 1, {a});
  const int reg = new_register({a, b});
  if (alone) sse_registers(0x66, 0x76, b, b);  // pcmpeqd: ones
  move_registers(reg, a);
  sse_registers(0, operation, reg, b);
  result(reg, c.out, 1);
  return true;
}

// Bools in memory are 0 or 1.
bool NativeCompiler::emit_bool(Op op, const Code& c) {
  const int operation = op == Op::logical_and                          ? 0x22
                        : op == Op::logical_or                         ? 0x0a
                        : op == Op::logical_xor || op == Op::not_equal ? 0x32
                                                                       : 0;
  if (op == Op::where) return emit_select(1, c);
  if (!operation && op != Op::logical_not) return false;
  if (cached(c.a, 1) || (operation && cached(c.b, 1))) return emit_masks(op, c);
  load_byte(c.a);
  if (operation) {
    byte(operation);
    in_frame(0, c.b, 1);
  } else {
    bytes({0x34, 1});  // xor al, 1
  }
  overwrite(c.out, 1);
  store_byte(c.out);
  return true;
}

bool NativeCompiler::emit_cast(const SmallProgram::Code& c) {
  const int reg = new_register({});
  switch (c.kind) {
    case cast_kind(static_cast<int>(DType::Float32), static_cast<int>(DType::Float64)):
      sse(0xf3, 0x5a, reg, c.a);
      result(reg, c.out, 8);
      return true;
    case cast_kind(static_cast<int>(DType::Float64), static_cast<int>(DType::Float32)):
      sse(0xf2, 0x5a, reg, c.a);
      result(reg, c.out, 4);
      return true;
    case cast_kind(static_cast<int>(DType::Int32), static_cast<int>(DType::Float64)):
      sse_registers(0, 0x57, reg, reg);
      sse(0xf2, 0x2a, reg, c.a);
      result(reg, c.out, 8);
      return true;
    case cast_kind(static_cast<int>(DType::Int64), static_cast<int>(DType::Float64)):
      sse_registers(0, 0x57, reg, reg);
      bytes({0xf2, reg >= 8 ? 0x4c : 0x48, 0x0f, 0x2a});  // cvtsi2sd from 64 bits
      in_frame(reg, c.a);
      result(reg, c.out, 8);
      return true;
    case cast_kind(static_cast<int>(DType::Float64), static_cast<int>(DType::Float64)):
      move_in(reg, c.a, 8);
      result(reg, c.out, 8);
      return true;
    default:
      return false;
  }
}

bool NativeCompiler::emit_element(const SmallProgram::Code& c) {
  if (c.kind < SmallProgram::Casts) return false;
  if (c.kind < SmallProgram::Elements) return emit_cast(c);
  const int number = c.kind - SmallProgram::Elements;
  const auto op = static_cast<Op>(number / kComputeDTypes);
  switch (static_cast<DType>(number % kComputeDTypes)) {
    case DType::Bool:
      return emit_bool(op, c);
    case DType::Int32:
      return emit_integer(op, 4, c);
    case DType::Int64:
      return emit_integer(op, 8, c);
    case DType::Float32:
      return emit_float(op, 4, c);
    case DType::Float64:
      return emit_float(op, 8, c);
    default:
      return false;
  }
}

// A call for some elements of float32 or float64, as instructions on 16 bytes.
bool NativeCompiler::emit_packed(const SmallProgram::Code& c) {
  if (c.kind != SmallProgram::Call) return false;
  const std::optional<uint16_t> kind = code_of_element(c.call);
  if (!kind || *kind < SmallProgram::Elements) return false;
  const int number = *kind - SmallProgram::Elements;
  const auto op = static_cast<Op>(number / kComputeDTypes);
  const auto dtype = static_cast<DType>(number % kComputeDTypes);
  const bool real = dtype == DType::Float32 || dtype == DType::Float64;
  const int operation = op == Op::add                            ? 0x58
                        : op == Op::multiply || op == Op::square ? 0x59
                        : op == Op::subtract                     ? 0x5c
                        : op == Op::divide                       ? 0x5e
                                                                 : 0;
  const int32_t one = dtype == DType::Float64 ? 8 : 4;
  if (!real || !operation || c.n * one > kMostPacked) return false;
  const int32_t right = op == Op::square ? c.a : c.b;
  const int a = new_register({}), b = new_register({a});
  for (int32_t i = 0; i < c.n * one;) {
    const int32_t left = c.n * one - i, part = left >= 16 ? 16 : one;
    move_part(false, 0x10, a, c.a + i, part);
    move_part(false, 0x10, b, right + i, part);
    const int prefix = part == one ? (one == 8 ? 0xf2 : 0xf3) : (one == 8 ? 0x66 : 0);
    sse_registers(prefix, operation, a, b);
    move_part(false, 0x11, a, c.out + i, part);
    i += part;
  }
  overwrite(c.out, c.n * one);
  return true;
}

// A call for a few elements, as codes of one element.
bool NativeCompiler::emit_unrolled(const SmallProgram::Code& c) {
  if (c.kind != SmallProgram::Call || c.n > kMostUnrolled) return false;
  const std::optional<uint16_t> kind = code_of_element(c.call);
  if (!kind) return false;
  const size_t before = bytes_.size();
  const ElementBytes sizes = bytes_of_element(*kind);
  Code one = c;
  one.kind = *kind;
  one.n = 1;
  for (int32_t i = 0; i < c.n; ++i) {
    if (!emit_element(one)) {
      bytes_.resize(before);  // the first one: an operation is supported or not
      return false;
    }
    one.out += sizes.out;
    one.a += sizes.a;
    one.b += sizes.others;
    one.c += sizes.others;
  }
  return true;
}

}  // namespace pullback

#endif
