#include "plan/verify.h"

#include <algorithm>

#include "base/error.h"

namespace pullback {
namespace {

[[noreturn]] void broken(size_t step, const char* what) {
  fail(ErrorKind::Runtime, "internal error in the planner, step ", static_cast<int64_t>(step), ": ",
       what, "; please report this program");
}

void check_bounds(const Plan& plan, const View& view, size_t step) {
  if (view.slot < 0 || view.slot >= static_cast<int32_t>(plan.slots.size())) {
    broken(step, "a view of no slot");
  }
  if (view.shape.size() == 0) return;
  int64_t low = view.offset;
  int64_t high = view.offset;
  for (int64_t d = 0; d < view.shape.rank; ++d) {
    const int64_t reach = (view.shape[d] - 1) * view.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const Slot& slot = plan.slots[view.slot];
  if (view.dtype != slot.dtype) broken(step, "a view of another dtype");
  if (low < 0 || (high + 1) * size_of(view.dtype) > slot.bytes)
    broken(step, "a view out of bounds");
}

void check_group(const TileGroup& group, size_t step) {
  const auto first = static_cast<int32_t>(group.loads.size() + group.scalars.size());
  const auto total = first + static_cast<int32_t>(group.instructions.size());
  for (const View& view : group.loads) {
    if (view.shape.size() != group.count && view.shape.size() != group.rows()) broken(step, "a load of another element count");
  }
  for (int32_t i = 0; i < static_cast<int32_t>(group.instructions.size()); ++i) {
    for (int32_t in : group.instructions[i].in) {
      if (in >= first + i) broken(step, "an instruction reads a later value");
    }
  }
  for (const Store& store : group.stores) {
    if (store.value < 0 || store.value >= total) broken(step, "a store of no value");
    if (store.view.shape.size() != group.count && store.view.shape.size() != group.rows()) broken(step, "a store of another element count");
  }
  for (const Reduction& r : group.reductions) {
    if (r.value < 0 || r.value >= total) broken(step, "a reduction of no value");
    if (r.outer * r.reduced * r.inner != group.count && r.reduced != group.rows()) broken(step, "a reduction of another count");
  }
}

}  // namespace

void verify(const Plan& plan) {
  std::vector<uint8_t> written(plan.slots.size(), 0);
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    written[i] = plan.slots[i].kind == SlotKind::Argument || plan.slots[i].bytes == 0;
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (const auto* group = std::get_if<TileGroup>(&plan.steps[i].work)) check_group(*group, i);
    for_each_view(plan.steps[i], [&](const View& view, bool write) {
      check_bounds(plan, view, i);
      const Slot& slot = plan.slots[view.slot];
      if (write && slot.kind == SlotKind::Argument) broken(i, "a write to an argument");
      if (!write && !written[view.slot]) broken(i, "a read before any write");
      if (write) written[view.slot] = 1;
      if (slot.kind == SlotKind::Temporary && slot.index + slot.bytes > plan.arena_bytes) {
        broken(i, "a temporary outside the arena");
      }
    });
  }
  for (int32_t slot : plan.outputs) {
    if (slot < 0 || !written[slot]) broken(plan.steps.size(), "an output nobody writes");
  }
}

}  // namespace pullback
