// The element types, what is known of each, and the promotion between them: two tables.
#pragma once

#include <cstdint>
#include <string>

namespace pullback {

enum class DType : uint8_t { Bool, Int32, Int64, Float32, Float64 };

constexpr int kDTypes = 5;

enum class DTypeKind : uint8_t { Bool, Integer, Float };

struct DTypeTraits {
  const char* name;
  int64_t size;  // bytes
  DTypeKind kind;
  DType compute;      // what numbers of it are computed in
  DType accumulator;  // what sums of it are collected in; also the result's, but for floats
};

inline constexpr DTypeTraits kDTypeTraits[kDTypes] = {
    {"bool", 1, DTypeKind::Bool, DType::Int32, DType::Int64},
    {"int32", 4, DTypeKind::Integer, DType::Int32, DType::Int64},
    {"int64", 8, DTypeKind::Integer, DType::Int64, DType::Int64},
    {"float32", 4, DTypeKind::Float, DType::Float32, DType::Float64},
    {"float64", 8, DTypeKind::Float, DType::Float64, DType::Float64},
};

constexpr const DTypeTraits& traits(DType dtype) { return kDTypeTraits[static_cast<int>(dtype)]; }

constexpr int64_t size_of(DType dtype) { return traits(dtype).size; }
constexpr bool is_float(DType dtype) { return traits(dtype).kind == DTypeKind::Float; }
constexpr bool is_integer(DType dtype) { return traits(dtype).kind == DTypeKind::Integer; }
constexpr const char* name_of(DType dtype) { return traits(dtype).name; }

// Of two array dtypes: an integer array next to a floating one takes the floating dtype.
constexpr DType promote(DType a, DType b) {
  using enum DType;
  constexpr DType table[kDTypes][kDTypes] = {
      {Bool, Int32, Int64, Float32, Float64},        {Int32, Int32, Int64, Float32, Float64},
      {Int64, Int64, Int64, Float32, Float64},       {Float32, Float32, Float32, Float32, Float64},
      {Float64, Float64, Float64, Float64, Float64},
  };
  return table[static_cast<int>(a)][static_cast<int>(b)];
}

inline std::string to_text(DType dtype) { return name_of(dtype); }

// The dtype that a Python float gets (float32 unless set otherwise).
DType default_float();
void set_default_float(DType dtype);

// A scalar of any dtype, kept as its bits: floats as double, the others as int64.
union Scalar {
  double f;
  int64_t i;
};
static_assert(sizeof(Scalar) == 8);

// Writes one element of `dtype`.
void store_scalar(DType dtype, Scalar scalar, void* out);
// Conversion as Op::cast does it: floats to integers saturate, NaN gives 0.
Scalar convert_scalar(Scalar scalar, DType from, DType to);

}  // namespace pullback
