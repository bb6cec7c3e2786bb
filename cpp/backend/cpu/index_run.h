// Steps that look at indices.
#pragma once

#include "backend/cpu/slots.h"

namespace pullback {

Status run_gather(const Gather& gather, const Slots& slots);
Status run_scatter_add(const ScatterAdd& scatter, const Slots& slots);
Status run_arg_reduce(const ArgReduce& reduce, const Slots& slots);

}  // namespace pullback
