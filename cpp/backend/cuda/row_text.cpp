// A row is printed as the expression that the CPU compiles.
#include "backend/cuda/row_text.h"

#include <string_view>

#include "base/error.h"
#include "plan/modular.h"

namespace pullback::cuda {
namespace {

// True if the value of a row calls functions that are compiled once for all processors (special::),
// for all or a part of its domain.
bool has_only_host_code(Op op, std::string_view value) {
  switch (op) {
    case Op::gammaln:
    case Op::digamma:
    case Op::polygamma:
    case Op::gamma:
    case Op::gamma_nth:
    case Op::rgamma:
    case Op::rgamma_nth:
    case Op::betaln:
    case Op::beta:
    case Op::zeta:
    case Op::zeta_dq:
    case Op::zeta_ds:
    case Op::erfcx_derivative:
    case Op::sinc:
    case Op::sinc_derivative:
    case Op::j0:
    case Op::j1:
    case Op::y0:
    case Op::y1:
    case Op::jn:
    case Op::jn_derivative:
    case Op::yn:
    case Op::yn_derivative:
    case Op::iv:
    case Op::ive:
    case Op::ive_derivative:
      return true;
    default:
      return value.starts_with("special::");
  }
}

}  // namespace

RowText row_text(Op op) {
  switch (op) {
#define UNARY(name, domain, result, integers, cost, mask, value, ...) \
  case Op::name:                                                      \
    return {#value, 1};
#define BINARY(name, domain, result, integers, cost, mask, value, ...) \
  case Op::name:                                                       \
    return {#value, 2};
#define TERNARY(name, domain, result, integers, cost, mask, value, ...) \
  case Op::name:                                                        \
    return {#value, 3};
#include "graph/elementwise.def"
    default:
      return {nullptr, 0};
  }
}

bool wraps(Op op) {
  return op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::negative ||
         op == Op::square;
}

bool is_signed(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

const char* type_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "uint8_t";
    case DType::Int32:
      return "int32_t";
    case DType::Int64:
      return "int64_t";
    case DType::UInt64:
      return "uint64_t";
    case DType::Float32:
      return "float";
    case DType::Float64:
      return "double";
    case DType::Int8:
      return "int8_t";
    case DType::Int16:
      return "int16_t";
    case DType::UInt8:
      return "uint8_t";
    case DType::UInt32:
      return "uint32_t";
    case DType::UInt16:
    case DType::Float16:
    case DType::BFloat16:
      return "uint16_t";
    default:
      return nullptr;
  }
}

std::string cast_text(DType from, DType to, const std::string& value) {
  using enum DType;
  const std::string type = type_of(to);
  if (from == to) return value;
  if (from == Float16 || from == BFloat16) {
    const char* const name = from == Float16 ? "from_float16" : "from_bfloat16";
    return cast_text(Float32, to, text("m::", name, "(", value, ")"));
  }
  if (to == Float16 || to == BFloat16) {
    const char* const single = from == Float64 ? "m::to_odd" : "static_cast<float>";
    const char* const name = to == Float16 ? "to_float16" : "to_bfloat16";
    return text("m::", name, "(", single, "(", value, "))");
  }
  if (is_storage(to) && is_float(from)) return text("m::saturated<", type, ">(", value, ")");
  if (is_storage(to) || is_storage(from)) return text("static_cast<", type, ">(", value, ")");
  return text("m::cast<", type, ", ", type_of(from), ">(", value, ")");
}

bool has_kernel(const Instruction& instruction) {
  const Op op = instruction.op;
  if (!type_of(instruction.dtype) || !type_of(instruction.result)) return false;
  if (op == Op::cast) return true;
  if (is_storage(instruction.dtype) || is_storage(instruction.result)) {
    return is_modular(op) && is_integer(instruction.dtype);
  }
  // The absolute value of the smallest integer overflows.
  if (op == Op::abs && is_signed(instruction.dtype)) return false;
  const RowText row = row_text(op);
  return row.value && !has_only_host_code(op, row.value) && !can_fail(instruction);
}

}  // namespace pullback::cuda
