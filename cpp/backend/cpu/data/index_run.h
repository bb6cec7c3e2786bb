// Steps that read indices: Gather, ScatterAdd.
#pragma once

#include "backend/common/slots.h"

namespace pullback {

Status run_gather(const Gather& gather, const Slots& slots);
// Bytes that a run needs in Slots::scratch().
int64_t scratch_bytes(const ScatterAdd& scatter);
Status run_scatter_add(const ScatterAdd& scatter, const Slots& slots);
Status run_arg_reduce(const ArgReduce& reduce, const Slots& slots);

}  // namespace pullback
