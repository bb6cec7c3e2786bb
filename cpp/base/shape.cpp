#include "base/shape.h"

#include <algorithm>

#include "base/error.h"

namespace pullback {

int64_t checked_mul(int64_t a, int64_t b, const char* who) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) {
    fail(ErrorKind::Value, who, ": the size ", a, " * ", b, " does not fit in 64 bits");
  }
  return out;
}

Shape::Shape(std::initializer_list<int64_t> dims) {
  for (int64_t d : dims) append(d);
}

std::string to_text(const Shape& shape) {
  std::string out = "(";
  for (int64_t i = 0; i < shape.rank; ++i) {
    if (i) out += ", ";
    out += std::to_string(shape[i]);
  }
  if (shape.rank == 1) out += ",";
  return out + ")";
}

void check_shape(const Shape& shape, const char* who) {
  int64_t bytes = 8;
  for (int64_t i = 0; i < shape.rank; ++i) {
    if (shape[i] < 0) {
      fail(ErrorKind::Value, who, ": negative dimension in shape ", shape);
    }
    // A zero elsewhere does not excuse an overflow of the rest.
    bytes = checked_mul(bytes, std::max<int64_t>(shape[i], 1), who);
  }
}

Strides row_major(const Shape& shape) {
  Strides strides{};
  int64_t step = 1;
  for (int64_t i = shape.rank - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

bool broadcast(const Shape& a, const Shape& b, Shape* out) {
  if (a == b) {
    *out = a;
    return true;
  }
  Shape result;
  result.rank = std::max(a.rank, b.rank);
  for (int64_t i = 0; i < result.rank; ++i) {
    const int64_t ia = i - (result.rank - a.rank);
    const int64_t ib = i - (result.rank - b.rank);
    const int64_t da = ia < 0 ? 1 : a[ia];
    const int64_t db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1) return false;
    result[i] = da == 1 ? db : da;
  }
  *out = result;
  return true;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  Shape out;
  return broadcast(from, to, &out) && out == to;
}

int64_t normal_axis(int64_t axis, int64_t rank, const char* who) {
  if (axis < -rank || axis >= rank) {
    fail(ErrorKind::Value, who, ": axis ", axis, " is out of range for a tensor of rank ", rank,
         rank ? text(" (valid: ", -rank, " to ", rank - 1, ")") : std::string(" (it has no axes)"));
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace pullback
