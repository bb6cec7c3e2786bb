// DType: the element types, the table of their traits, and the promotion rule (promote()).
//
// Kernels exist for the first kComputeDTypes only, but for the operations of plan/modular.h. The
// other real dtypes are storage: a tile program converts them when it loads and stores, and rounds
// (or wraps) after every operation, so fused programs return the bits of separate operations.
// Complex dtypes are pairs of real numbers, which the planner separates.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace pullback {

enum class DType : uint8_t {
  // compute dtypes, in the order of the kernel tables
  Bool,
  Int32,
  Int64,
  Float32,
  Float64,
  UInt64,
  // storage dtypes
  Int8,
  Int16,
  UInt8,
  UInt16,
  UInt32,
  Float16,
  BFloat16,
  // pairs of real numbers
  Complex64,
  Complex128,
};

constexpr int kDTypes = 15;
constexpr int kComputeDTypes = 6;

enum class DTypeKind : uint8_t { Bool, Signed, Unsigned, Float, Complex };

struct DTypeTraits {
  const char* name;
  int64_t size;  // bytes
  DTypeKind kind;
  DType compute;      // dtype of arithmetic; of a complex dtype, the dtype of its parts
  DType accumulator;  // dtype of sums; also of the result, except for floats
};

inline constexpr DTypeTraits kDTypeTraits[kDTypes] = {
    {"bool", 1, DTypeKind::Bool, DType::Int32, DType::Int64},
    {"int32", 4, DTypeKind::Signed, DType::Int32, DType::Int64},
    {"int64", 8, DTypeKind::Signed, DType::Int64, DType::Int64},
    {"float32", 4, DTypeKind::Float, DType::Float32, DType::Float64},
    {"float64", 8, DTypeKind::Float, DType::Float64, DType::Float64},
    {"uint64", 8, DTypeKind::Unsigned, DType::UInt64, DType::UInt64},
    {"int8", 1, DTypeKind::Signed, DType::Int32, DType::Int64},
    {"int16", 2, DTypeKind::Signed, DType::Int32, DType::Int64},
    {"uint8", 1, DTypeKind::Unsigned, DType::Int32, DType::UInt64},
    {"uint16", 2, DTypeKind::Unsigned, DType::Int32, DType::UInt64},
    {"uint32", 4, DTypeKind::Unsigned, DType::Int64, DType::UInt64},
    {"float16", 2, DTypeKind::Float, DType::Float32, DType::Float64},
    {"bfloat16", 2, DTypeKind::Float, DType::Float32, DType::Float64},
    {"complex64", 8, DTypeKind::Complex, DType::Float32, DType::Complex128},
    {"complex128", 16, DTypeKind::Complex, DType::Float64, DType::Complex128},
};

constexpr const DTypeTraits& traits(DType dtype) { return kDTypeTraits[static_cast<int>(dtype)]; }

constexpr int64_t size_of(DType dtype) { return traits(dtype).size; }
constexpr bool is_float(DType dtype) { return traits(dtype).kind == DTypeKind::Float; }
constexpr bool is_complex(DType dtype) { return traits(dtype).kind == DTypeKind::Complex; }
// The dtypes that have gradients.
constexpr bool is_inexact(DType dtype) { return is_float(dtype) || is_complex(dtype); }
constexpr bool is_unsigned(DType dtype) { return traits(dtype).kind == DTypeKind::Unsigned; }
constexpr bool is_integer(DType dtype) {
  return traits(dtype).kind == DTypeKind::Signed || is_unsigned(dtype);
}
constexpr const char* name_of(DType dtype) { return traits(dtype).name; }
// True if the dtype is converted at loads and stores: neither a compute dtype nor complex.
constexpr bool is_storage(DType dtype) {
  return dtype != DType::Bool && !is_complex(dtype) && traits(dtype).compute != dtype;
}

// The dtype in which an operation without kernels for storage dtypes is computed.
constexpr DType widened(DType dtype) { return is_storage(dtype) ? traits(dtype).compute : dtype; }

// The promoted dtype of two arrays. NumPy's rule, with one difference: an integer array beside a
// floating array takes the floating dtype. float16 with bfloat16 gives float32; uint64 with a
// signed integer gives float64.
constexpr DType promote(DType a, DType b) {
  using enum DType;
  if (a == b || b == Bool) return a;
  if (a == Bool) return b;
  if (traits(a).kind > traits(b).kind) std::swap(a, b);  // b is the later kind
  const int64_t size = size_of(a);
  switch (traits(b).kind) {
    case DTypeKind::Complex:
      return a == Complex128 || a == Float64 ? Complex128 : b;
    case DTypeKind::Float:
      if (!is_float(a)) return b;
      if (size == size_of(b)) return Float32;
      return size > size_of(b) ? a : b;
    case DTypeKind::Unsigned:
      if (is_unsigned(a)) return size > size_of(b) ? a : b;
      if (size > size_of(b)) return a;
      return size_of(b) == 1 ? Int16 : size_of(b) == 2 ? Int32 : size_of(b) == 4 ? Int64 : Float64;
    case DTypeKind::Signed:
      return size > size_of(b) ? a : b;
    case DTypeKind::Bool:
      break;
  }
  return a;
}

inline std::string to_text(DType dtype) { return name_of(dtype); }

// The dtype that a Python float gets (float32 unless set otherwise).
DType default_float();
void set_default_float(DType dtype);

// A scalar of any dtype except the complex ones. Floats are stored as double, integers as int64;
// uint64 keeps its bits.
union Scalar {
  double f;
  int64_t i;
};
static_assert(sizeof(Scalar) == 8);

// True if `dtype` can represent this integer.
bool fits(int64_t value, DType dtype);

// Write and read one element of `dtype`.
void store_scalar(DType dtype, Scalar scalar, void* out);
Scalar load_scalar(DType dtype, const void* data);
// Converts as Op::cast does: floats to integers saturate, NaN becomes 0, integers wrap.
Scalar convert_scalar(Scalar scalar, DType from, DType to);

}  // namespace pullback
