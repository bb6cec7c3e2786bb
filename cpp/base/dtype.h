// The five element types, their sizes and the promotion between them.
#pragma once

#include <cstdint>
#include <string>

namespace pullback {

// Ordered so that promotion of two array dtypes is their maximum: an integer array next to a
// floating one takes the floating dtype (float32 stays float32).
enum class DType : uint8_t { Bool, Int32, Int64, Float32, Float64 };

constexpr int kDTypes = 5;

constexpr int64_t size_of(DType dtype) {
  constexpr int64_t sizes[kDTypes] = {1, 4, 8, 4, 8};
  return sizes[static_cast<int>(dtype)];
}

constexpr bool is_float(DType dtype) { return dtype >= DType::Float32; }
constexpr bool is_integer(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

constexpr DType promote(DType a, DType b) { return a < b ? b : a; }

constexpr const char* name_of(DType dtype) {
  constexpr const char* names[kDTypes] = {"bool", "int32", "int64", "float32", "float64"};
  return names[static_cast<int>(dtype)];
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
