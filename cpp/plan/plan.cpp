// What a plan takes in memory, for the bound of the plan cache.
#include "plan/plan.h"

namespace pullback {

int64_t bytes_of(const TileGroup& group) {
  return bytes_of(group.loads) + bytes_of(group.scalars) + bytes_of(group.instructions) +
         bytes_of(group.stores) + bytes_of(group.reductions);
}

int64_t bytes_of(const Plan& plan) {
  int64_t bytes = bytes_of(plan.slots) + bytes_of(plan.steps) + bytes_of(plan.arguments) +
                  bytes_of(plan.outputs) + bytes_of(plan.output_bytes) + bytes_of(plan.donors);
  for (const Step& step : plan.steps) {
    if (const auto* group = std::get_if<TileGroup>(&step.work)) bytes += bytes_of(*group);
    const auto* gemm = std::get_if<Gemm>(&step.work);
    if (gemm && gemm->then) bytes += bytes_of(*gemm->then);
  }
  return bytes;
}

}  // namespace pullback
