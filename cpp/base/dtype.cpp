// Conversions between dtypes of single elements and of scalars.
#include "base/dtype.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace pullback {

namespace {

DType default_float_dtype = DType::Float32;

// Layout of the two 16-bit floats.
struct Half {
  int fraction;  // bits
  int bias;
};
constexpr Half half_of(DType dtype) {
  return dtype == DType::Float16 ? Half{10, 15} : Half{7, 127};
}

// The nearest 16-bit float, ties to even, as a double.
double rounded_half(DType dtype, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const Half half = half_of(dtype);
  int exponent;
  std::frexp(value, &exponent);  // value = f 2^exponent, 0.5 <= |f| < 1
  const int unit = std::max(exponent - 1 - half.fraction, 1 - half.bias - half.fraction);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  const double largest = std::ldexp(2 - std::ldexp(1, -half.fraction), half.bias);
  return std::fabs(rounded) > largest ? std::copysign(HUGE_VAL, value) : rounded;
}

uint16_t half_bits(DType dtype, double value) {
  const Half half = half_of(dtype);
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const auto infinity = static_cast<uint16_t>((2 * half.bias + 1) << half.fraction);
  if (std::isnan(value)) return sign | infinity | 1 << (half.fraction - 1);
  value = std::fabs(rounded_half(dtype, value));
  if (std::isinf(value)) return sign | infinity;
  int exponent;
  std::frexp(value, &exponent);
  exponent = value == 0 ? 0 : std::max(exponent - 1 + half.bias, 0);
  // In units in the last place. The leading bit of a normal number adds one to the exponent.
  const auto units =
      static_cast<uint16_t>(std::ldexp(value, half.fraction + half.bias - std::max(exponent, 1)));
  const int above = std::max(exponent - 1, 0) << half.fraction;
  return static_cast<uint16_t>(sign | (units + above));
}

double half_value(DType dtype, uint16_t bits) {
  const Half half = half_of(dtype);
  const int top = 2 * half.bias + 1;
  const int exponent = (bits & 0x7fff) >> half.fraction;
  const int fraction = bits & ((1 << half.fraction) - 1);
  double value;
  if (exponent == top) {
    value = fraction ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL;
  } else {
    const int units = exponent ? fraction + (1 << half.fraction) : fraction;
    value = std::ldexp(units, std::max(exponent, 1) - half.bias - half.fraction);
  }
  return bits & 0x8000 ? -value : value;
}

struct Range {
  int64_t low, high;
};
Range range_of(DType dtype) {
  const auto bits = 8 * size_of(dtype);
  if (!is_unsigned(dtype)) return {INT64_MIN >> (64 - bits), INT64_MAX >> (64 - bits)};
  return {0, bits == 64 ? INT64_MAX : (int64_t{1} << bits) - 1};
}

// The low bits of `value`, read as `dtype`.
int64_t wrapped(int64_t value, DType dtype) {
  const auto lost = 64 - 8 * size_of(dtype);
  const auto up = static_cast<uint64_t>(value) << lost;
  return is_unsigned(dtype) ? static_cast<int64_t>(up >> lost) : static_cast<int64_t>(up) >> lost;
}

double as_double(Scalar scalar, DType dtype) {
  if (is_float(dtype)) return scalar.f;
  return dtype == DType::UInt64 ? static_cast<double>(static_cast<uint64_t>(scalar.i))
                                : static_cast<double>(scalar.i);
}

}  // namespace

DType default_float() { return default_float_dtype; }

void set_default_float(DType dtype) {
  if (dtype != DType::Float32 && dtype != DType::Float64) {
    fail(ErrorKind::Type, "set_default_dtype: expected float32 or float64, got ", dtype);
  }
  default_float_dtype = dtype;
}

bool fits(int64_t value, DType dtype) {
  if (!is_integer(dtype)) return true;
  const Range range = range_of(dtype);
  return value >= range.low && value <= range.high;
}

void store_scalar(DType dtype, Scalar scalar, void* out) {
  const auto copy = [out](auto value) { std::memcpy(out, &value, sizeof value); };
  switch (dtype) {
    case DType::Bool:
      return copy(static_cast<uint8_t>(scalar.i != 0));
    case DType::Int8:
    case DType::UInt8:
      return copy(static_cast<uint8_t>(scalar.i));
    case DType::Int16:
    case DType::UInt16:
      return copy(static_cast<uint16_t>(scalar.i));
    case DType::Int32:
    case DType::UInt32:
      return copy(static_cast<uint32_t>(scalar.i));
    case DType::Float16:
    case DType::BFloat16:
      return copy(half_bits(dtype, scalar.f));
    case DType::Float32:
      return copy(static_cast<float>(scalar.f));
    case DType::Int64:
    case DType::UInt64:
    case DType::Float64:
      return copy(scalar);
    case DType::Complex64:
    case DType::Complex128:
      fail(ErrorKind::Runtime, "store_scalar: expected a real dtype, got ", dtype);
  }
}

Scalar load_scalar(DType dtype, const void* data) {
  const auto read = [data]<class T>(T value) {
    std::memcpy(&value, data, sizeof value);
    return value;
  };
  Scalar out{};
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8:
      out.i = read(uint8_t{});
      break;
    case DType::Int8:
      out.i = read(int8_t{});
      break;
    case DType::Int16:
      out.i = read(int16_t{});
      break;
    case DType::UInt16:
      out.i = read(uint16_t{});
      break;
    case DType::Int32:
      out.i = read(int32_t{});
      break;
    case DType::UInt32:
      out.i = read(uint32_t{});
      break;
    case DType::Float16:
    case DType::BFloat16:
      out.f = half_value(dtype, read(uint16_t{}));
      break;
    case DType::Float32:
      out.f = read(float{});
      break;
    case DType::Int64:
    case DType::UInt64:
    case DType::Float64:
      out = read(Scalar{});
      break;
    case DType::Complex64:
    case DType::Complex128:
      fail(ErrorKind::Runtime, "load_scalar: expected a real dtype, got ", dtype);
  }
  return out;
}

Scalar convert_scalar(Scalar scalar, DType from, DType to) {
  Scalar out{};
  if (is_float(to)) {
    // Rounds once: an integer must not go through double on its path to float.
    if (to == DType::Float32 && from == DType::UInt64) {
      out.f = static_cast<float>(static_cast<uint64_t>(scalar.i));
    } else if (to == DType::Float32) {
      out.f = is_float(from) ? static_cast<float>(scalar.f) : static_cast<float>(scalar.i);
    } else {
      out.f = as_double(scalar, from);
      if (to != DType::Float64) out.f = rounded_half(to, out.f);
    }
    return out;
  }
  if (to == DType::Bool) {
    out.i = is_float(from) ? scalar.f != 0 : scalar.i != 0;
    return out;
  }
  if (!is_float(from)) {
    out.i = wrapped(scalar.i, to);
    return out;
  }
  if (to == DType::UInt64) {
    const uint64_t value = scalar.f >= 0x1p64 ? UINT64_MAX
                           : scalar.f > 0     ? static_cast<uint64_t>(scalar.f)
                                              : 0;
    out.i = static_cast<int64_t>(value);
    return out;
  }
  const auto [low, high] = range_of(to);
  if (std::isnan(scalar.f)) {
    out.i = 0;
  } else if (scalar.f <= static_cast<double>(low)) {
    out.i = low;
  } else if (scalar.f >= static_cast<double>(high)) {
    out.i = high;
  } else {
    out.i = static_cast<int64_t>(scalar.f);
  }
  return out;
}

}  // namespace pullback
