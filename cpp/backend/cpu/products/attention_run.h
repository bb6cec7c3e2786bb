// Runs attention block by block (ops/linalg/attention.h): memory for the scores of one block per
// thread.
#pragma once

#include "backend/common/slots.h"

namespace pullback {

Status run_attention(const LibraryCall& call, const Slots& slots);

}  // namespace pullback
