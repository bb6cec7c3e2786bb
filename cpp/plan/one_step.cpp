// Renumbers the slots of a step, and compiles copies of the plans of its bodies.
#include "plan/one_step.h"

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "plan/step_views.h"

namespace pullback {
namespace {

void compile_bodies(Step* step, const Backend& backend) {
  for_each_body(*step, [&](const BodyPlan& body) {
    auto copy = std::make_shared<CachedPlan>();
    copy->plan = body.plan->plan;
    for (Step& inner : copy->plan.steps) compile_bodies(&inner, backend);
    copy->executable = backend.compile(copy->plan);
    const_cast<BodyPlan&>(body).plan = std::move(copy);
  });
}

}  // namespace

OneStepPlan one_step_plan(const Plan& plan, size_t step, const Backend& backend) {
  OneStepPlan out;
  Plan& own = out.plan;
  own.scalars = plan.scalars;
  own.steps.push_back(plan.steps[step]);
  std::unordered_set<int32_t> written;
  for_each_view(own.steps[0], [&](const View& view, bool write) {
    if (write) written.insert(view.slot);
  });
  std::unordered_map<int32_t, int32_t> slots;  // of `own`, by slot of `plan`
  for_each_operand<View>(own.steps[0], [&](const View& view, Use) {
    const auto number = static_cast<int32_t>(own.slots.size());
    const auto [found, added] = slots.try_emplace(view.slot, number);
    if (added) {
      Slot slot = plan.slots[view.slot];
      const bool output = written.contains(view.slot);
      slot.kind = output ? SlotKind::Output : SlotKind::Argument;
      (output ? own.outputs : own.arguments).push_back(number);
      if (output) own.output_bytes.push_back(slot.bytes);
      std::vector<int32_t>& list = output ? out.outputs : out.arguments;
      slot.index = static_cast<int64_t>(list.size());
      list.push_back(view.slot);
      own.slots.push_back(slot);
    }
    const_cast<View&>(view).slot = found->second;
  });
  compile_bodies(&own.steps[0], backend);
  return out;
}

}  // namespace pullback
