// A count with its noun, for messages: "1 gradient", "2 gradients".
#pragma once

#include <string>

#include "base/error.h"

namespace pullback {

inline std::string counted(int64_t count, const char* one, const char* several) {
  return text(count, " ", count == 1 ? one : several);
}

}  // namespace pullback
