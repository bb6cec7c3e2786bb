// Attention, block by block (ops/linalg/attention.h): memory for no more scores than a block has.
#pragma once

#include "backend/cpu/common/slots.h"

namespace pullback {

Status run_attention(const LibraryCall& call, const Slots& slots);

}  // namespace pullback
