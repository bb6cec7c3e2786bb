// Pieces of one memory that several steps fill.
#pragma once

#include "plan/plan.h"

namespace pullback {

// Pieces that are disjoint are written instead of added to zeros, zeros that nobody would see are
// not written, and groups store what they compute in its place. Before memory is planned.
void coalesce_writes(Plan* plan);

}  // namespace pullback
