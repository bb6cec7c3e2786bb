// Conversion of single elements and numbers; the tables are in the header.
#include "base/dtype.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace pullback {

namespace {
DType default_float_dtype = DType::Float32;
}

DType default_float() { return default_float_dtype; }

void set_default_float(DType dtype) {
  if (!is_float(dtype)) {
    fail(ErrorKind::Type, "set_default_dtype: expected float32 or float64, got ", dtype);
  }
  default_float_dtype = dtype;
}

void store_scalar(DType dtype, Scalar scalar, void* out) {
  switch (dtype) {
    case DType::Bool: {
      const uint8_t v = scalar.i != 0;
      std::memcpy(out, &v, 1);
      return;
    }
    case DType::Int32: {
      const auto v = static_cast<int32_t>(scalar.i);
      std::memcpy(out, &v, 4);
      return;
    }
    case DType::Float32: {
      const auto v = static_cast<float>(scalar.f);
      std::memcpy(out, &v, 4);
      return;
    }
    case DType::Int64:
    case DType::Float64:
      std::memcpy(out, &scalar, 8);
  }
}

Scalar convert_scalar(Scalar scalar, DType from, DType to) {
  Scalar out{};
  if (is_float(to)) {
    // Rounded once: an integer does not go through double on its way to float.
    if (to == DType::Float32) {
      out.f = is_float(from) ? static_cast<float>(scalar.f) : static_cast<float>(scalar.i);
    } else {
      out.f = is_float(from) ? scalar.f : static_cast<double>(scalar.i);
    }
    return out;
  }
  if (!is_float(from)) {
    out.i = to == DType::Bool    ? scalar.i != 0
            : to == DType::Int32 ? static_cast<int32_t>(scalar.i)
                                 : scalar.i;
    return out;
  }
  if (to == DType::Bool) {
    out.i = scalar.f != 0;
    return out;
  }
  const bool narrow = to == DType::Int32;
  const int64_t low = narrow ? std::numeric_limits<int32_t>::min() : INT64_MIN;
  const int64_t high = narrow ? std::numeric_limits<int32_t>::max() : INT64_MAX;
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
