// Which of several equal positions comes last.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace pullback {

// Memory that find_last needs for n indices, what it finds included.
int64_t last_equal_bytes(int64_t n);

// For each index the last place in the list with the same one; a list of n at `memory`.
const int64_t* find_last(DType dtype, const char* indices, int64_t n, char* memory);

}  // namespace pullback
