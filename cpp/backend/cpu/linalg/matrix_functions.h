// Steps that compute functions of matrices, Sylvester equations and banded systems.
#pragma once

#include "backend/common/slots.h"

namespace pullback {

inline bool is_matrix_function(Routine routine) {
  return routine >= Routine::expm && routine <= Routine::swap_rows;
}
Status run_matrix_function(const LibraryCall& call, const Slots& slots);

}  // namespace pullback
