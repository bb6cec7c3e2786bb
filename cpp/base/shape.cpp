// PerAxis on the heap, the check of shapes, and broadcasting.
#include "base/shape.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"

namespace pullback {

int64_t checked_mul(int64_t a, int64_t b, const char* who) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) {
    fail(ErrorKind::Value, who, ": the size ", a, " * ", b, " does not fit in 64 bits");
  }
  return out;
}

int64_t checked_add(int64_t a, int64_t b, const char* who) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out)) {
    fail(ErrorKind::Value, who, ": the size ", a, " + ", b, " does not fit in 64 bits");
  }
  return out;
}

namespace {
// Capacity of the heap block. It follows from the rank, so it is not stored.
int64_t capacity_of(int64_t rank) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rank)));
}
}  // namespace

void PerAxis::copy_spilled(const PerAxis& other) {
  auto* values = new int64_t[capacity_of(rank)];
  std::copy(other.begin(), other.end(), values);
  values_.outside = values;
}

void PerAxis::resize_spilled(int64_t count) {
  const bool before = spilled();
  if (count > kInside && before && capacity_of(count) == capacity_of(rank)) {
    for (int64_t i = rank; i < count; ++i) values_.outside[i] = 0;
    rank.value_ = count;
    return;
  }
  Values values;
  if (count > kInside) values.outside = new int64_t[capacity_of(count)]();
  std::copy_n(begin(), std::min<int64_t>(rank, count),
              count > kInside ? values.outside : values.inside.data());
  if (before) delete[] values_.outside;
  values_ = values;
  rank.value_ = count;
}

std::string to_text(const Shape& shape) {
  std::string out = "(";
  const int64_t shown = shape.rank > kMaxRank ? 4 : static_cast<int64_t>(shape.rank);
  for (int64_t i = 0; i < shown; ++i) {
    if (i) out += ", ";
    out += std::to_string(shape[i]);
  }
  if (shown < shape.rank) out += text(", …: ", shape.rank, " axes");
  if (shape.rank == 1) out += ",";
  return out + ")";
}

void check_shape_fully(const Shape& shape, const char* who) {
  if (shape.rank > kMaxRank) {
    fail(ErrorKind::Value, who, ": expected at most ", kMaxRank, " axes, got shape ", shape);
  }
  int64_t bytes = 8;
  for (int64_t dim : shape) {
    if (dim < 0) fail(ErrorKind::Value, who, ": expected axis sizes >= 0, got shape ", shape);
    // A zero dimension counts as one: it does not hide an overflow of the others.
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(dim, 1), &bytes) || bytes > kMaxBytes) {
      fail(ErrorKind::Value, who, ": expected a size that fits in 64 bits, got shape ", shape);
    }
  }
}

Strides row_major(const Shape& shape) {
  Strides strides;
  strides.resize(shape.rank);
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
  result.resize(std::max<int64_t>(a.rank, b.rank));
  for (int64_t i = 0; i < result.rank; ++i) {
    const int64_t ia = i - (result.rank - a.rank);
    const int64_t ib = i - (result.rank - b.rank);
    const int64_t da = ia < 0 ? 1 : a[ia];
    const int64_t db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1) return false;
    result[i] = da == 1 ? db : da;
  }
  *out = std::move(result);
  return true;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  Shape out;
  return broadcast(from, to, &out) && out == to;
}

int64_t normal_axis(int64_t axis, int64_t rank, const char* who) {
  if (axis < -rank || axis >= rank) {
    fail(ErrorKind::Axis, who, ": axis ", axis, " is out of range for a tensor of rank ", rank,
         rank ? text(" (valid: ", -rank, " to ", rank - 1, ")") : std::string(" (it has no axes)"));
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace pullback
