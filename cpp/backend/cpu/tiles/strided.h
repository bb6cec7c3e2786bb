// Axes: a view as a loop nest with merged axes; copies between strided and contiguous memory.
#pragma once

#include <cstdint>

#include "base/shape.h"
#include "plan/plan.h"

namespace pullback {

// The axes of a view without axes of size 1, and with neighbours merged if their strides allow it.
// A single element has rank 0.
struct Axes {
  int rank = 0;
  int64_t dim[kMaxRank];
  int64_t stride[kMaxRank];  // elements
};
Axes merged_axes(const View& view);

// Copies elements first … first+n-1 (row-major) of the strided array at `base` to `out`.
void gather_strided(const Axes& axes, const char* base, int64_t element, int64_t first, int64_t n,
                    char* out);

// The inverse: copies n elements from `in` to these places.
void scatter_strided(const Axes& axes, char* base, int64_t element, int64_t first, int64_t n,
                     const char* in);

// Writes n copies of the element at `value`.
void fill_elements(char* out, const char* value, int64_t element, int64_t n);

}  // namespace pullback
