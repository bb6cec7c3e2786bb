// What holds for every kind of step: its group, its failures, and the memory of a plan, which the
// plan cache limits.
#include "plan/plan.h"

#include <algorithm>

#include "ops/composite.h"
#include "plan/backend.h"
#include "plan/step_views.h"

namespace pullback {

const TileGroup* epilogue_of(const Step& step) {
  return std::visit(
      [](const auto& work) -> const TileGroup* {
        if constexpr (requires { work.epilogue; }) {
          if (work.epilogue) return &*work.epilogue;
        }
        return nullptr;
      },
      step.work);
}

const TileGroup* group_of(const Step& step) {
  const auto* group = std::get_if<TileGroup>(&step.work);
  return group ? group : epilogue_of(step);
}

bool has_plans(const Step& step) {
  bool found = false;
  for_each_body(step, [&](const BodyPlan&) { found = true; });
  return found;
}

bool can_fail(const Step& step) {
  bool fails = std::visit([](const auto& work) { return work.can_fail(); }, step.work);
  if (const TileGroup* epilogue = epilogue_of(step)) fails |= epilogue->can_fail();
  for_each_body(step, [&](const BodyPlan& body) {
    fails |= std::ranges::any_of(body.plan->plan.steps,
                                 [](const Step& inner) { return can_fail(inner); });
  });
  return fails;
}

const char* name_of(const Step& step) {
  const auto* call = std::get_if<LibraryCall>(&step.work);
  if (!call) {
    return step.composite == Composite::None ? name_of(step.source) : name_of(step.composite);
  }
  return call->form.who ? call->form.who : name_of(call->form.routine);
}

const char* name_of(const Label& label) {
  return label.composite == Composite::None ? name_of(label.op) : name_of(label.composite);
}

namespace {

// Bytes of the lists of a step. The plan of a body is counted where it is cached.
template <DescribedStep Kind>
int64_t bytes_of_lists(const Kind& work) {
  int64_t bytes = 0;
  visit_operands(work, [&](const auto& value, Use) {
    if constexpr (requires { value.capacity(); }) bytes += bytes_of(value);
    for_each_part<BodyPlan>(value, [&](const BodyPlan& body) {
      bytes += bytes_of(body.arguments) + bytes_of(body.numbers) + bytes_of(body.results);
    });
  });
  if constexpr (requires { work.bytes(); }) bytes += work.bytes();
  if constexpr (requires { work.epilogue; }) {
    if (work.epilogue) bytes += bytes_of_lists(*work.epilogue);
  }
  return bytes;
}

}  // namespace

int64_t bytes_of(const Plan& plan) {
  int64_t bytes = bytes_of(plan.slots) + bytes_of(plan.steps) + bytes_of(plan.arguments) +
                  bytes_of(plan.outputs) + bytes_of(plan.output_bytes) + bytes_of(plan.replaced) +
                  bytes_of(plan.donated_arguments);
  for (const Step& step : plan.steps) {
    bytes += bytes_of(step.labels);
    bytes += std::visit([](const auto& work) { return bytes_of_lists(work); }, step.work);
  }
  return bytes;
}

}  // namespace pullback
