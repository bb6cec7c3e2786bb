// The body's plan writes each root to its destination. Roots that are arguments, or that equal
// another root, are copied.
#include "backend/common/body_run.h"

#include "base/iteration_seed.h"

namespace pullback {

int64_t take(int64_t* end, int64_t bytes) {
  const int64_t at = *end;
  *end += round_up(bytes, 64);
  return at;
}

BodyProgram compile_body(const BodyPlan& body, ScratchBytes* end) {
  const Plan& plan = body.plan->plan;
  const auto take_list = [&](size_t count, size_t size) {
    return take(&end->lists, static_cast<int64_t>(count * size));
  };
  BodyProgram out{&body};
  out.arguments = take_list(plan.arguments.size(), sizeof(void*));
  out.outputs = take_list(plan.output_bytes.size(), sizeof(void*));
  out.scalars = take_list(body.numbers.size(), sizeof(Scalar));
  out.arena = take(&end->device, plan.arena_bytes + body.plan->executable->scratch_bytes());
  std::vector<uint8_t> written(plan.output_bytes.size(), 0);
  for (const std::optional<int32_t> place : body.results) {
    out.results.emplace_back();
    if (!place) continue;
    const Slot& slot = plan.slots[plan.outputs[*place]];
    const bool argument = slot.kind == SlotKind::Argument;
    out.results.back() = {slot.index, argument, !argument && !written[slot.index]++};
  }
  return out;
}

BodyRun::BodyRun(const BodyProgram& program, const Slots& slots, const Scratch& scratch)
    : program_(program),
      slots_(slots),
      memory_(scratch.memory),
      arguments_(reinterpret_cast<const void**>(scratch.lists + program.arguments)),
      outputs_(reinterpret_cast<void**>(scratch.lists + program.outputs)),
      scalars_(reinterpret_cast<Scalar*>(scratch.lists + program.scalars)),
      run_{arguments_,          scalars_, outputs_, scratch.device + program.arena,
           slots.interrupted(), false} {}

void BodyRun::bind(const std::vector<BodyInput>& in) {
  for (size_t a = 0; a < plan().arguments.size(); ++a) {
    const InputSource& argument = plan().arguments[a];
    if (!argument.residual) arguments_[a] = slots_.at(std::get<View>(in[argument.number]));
  }
  draws_ = false;
  for (size_t k = 0; k < plan().numbers.size(); ++k) {
    const auto* number = std::get_if<BodyPlan::ScalarInput>(&plan().numbers[k]);
    scalars_[k] = number ? slots_.scalar(std::get<RunScalar>(in[number->input]))
                         : std::get<Scalar>(plan().numbers[k]);
    draws_ |= number && number->seed;
  }
}

void BodyRun::draw(const std::vector<BodyInput>& in, int64_t position) {
  if (!draws_) return;
  for (size_t k = 0; k < plan().numbers.size(); ++k) {
    const auto* number = std::get_if<BodyPlan::ScalarInput>(&plan().numbers[k]);
    if (!number || !number->seed) continue;
    const Scalar& seed = slots_.scalar(std::get<RunScalar>(in[number->input]));
    scalars_[k].i = seed_of_iteration(seed.i, position);
  }
}

void BodyRun::write(size_t root, void* to) {
  const std::optional<BodyProgram::Result>& result = program_.results[root];
  if (result && result->first) outputs_[result->number] = to;
}

void BodyRun::copy(size_t root, void* to, int64_t bytes) const {
  const std::optional<BodyProgram::Result>& result = program_.results[root];
  if (!result || result->first || bytes == 0) return;
  memory_.copy(to, result->argument ? arguments_[result->number] : outputs_[result->number], bytes);
}

}  // namespace pullback
