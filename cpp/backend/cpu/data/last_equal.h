// find_last(): which of several equal positions comes last.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace pullback {

// Bytes that find_last needs for n indices, including its result.
int64_t last_equal_bytes(int64_t n);

// For each index, the last place in the list with an equal index; returns n places, in `memory`.
const int64_t* find_last(DType dtype, const char* indices, int64_t n, char* memory);

}  // namespace pullback
