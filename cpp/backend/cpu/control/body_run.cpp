// The body's plan writes each root to its destination. Roots that are arguments, or that equal
// another root, are copied.
#include "backend/cpu/control/body_run.h"

#include <cstring>

#include "base/iteration_seed.h"

namespace pullback {

int64_t take(int64_t* end, int64_t bytes) {
  const int64_t at = *end;
  *end += round_up(bytes, 64);
  return at;
}

BodyProgram compile_body(const BodyPlan& body, int64_t* end) {
  const Plan& plan = body.plan->plan;
  const auto take_list = [&](size_t count, size_t size) {
    return take(end, static_cast<int64_t>(count * size));
  };
  BodyProgram out{&body};
  out.arguments = take_list(plan.arguments.size(), sizeof(void*));
  out.outputs = take_list(plan.output_bytes.size(), sizeof(void*));
  out.scalars = take_list(body.numbers.size(), sizeof(Scalar));
  out.arena = take(end, plan.arena_bytes + body.plan->executable->scratch_bytes());
  std::vector<uint8_t> written(plan.output_bytes.size(), 0);
  for (const int32_t place : body.results) {
    BodyProgram::Result result;
    if (place >= 0) {
      const Slot& slot = plan.slots[plan.outputs[place]];
      const auto index = static_cast<int32_t>(slot.index);
      if (slot.kind == SlotKind::Argument) {
        result.argument = index;
      } else {
        result.output = index;
        result.first = !written[index]++;
      }
    }
    out.results.push_back(result);
  }
  return out;
}

BodyRun::BodyRun(const BodyProgram& program, const Slots& slots, char* scratch)
    : program_(program),
      slots_(slots),
      arguments_(reinterpret_cast<const void**>(scratch + program.arguments)),
      outputs_(reinterpret_cast<void**>(scratch + program.outputs)),
      scalars_(reinterpret_cast<Scalar*>(scratch + program.scalars)),
      run_{arguments_, scalars_, outputs_, scratch + program.arena, slots.interrupted(), false} {}

void BodyRun::bind(const std::vector<View>& in, const std::vector<int32_t>& draws) {
  for (size_t a = 0; a < plan().arguments.size(); ++a) {
    const int32_t input = plan().arguments[a];
    if (input >= 0) arguments_[a] = slots_.at(in[input]);
  }
  draws_ = false;
  for (size_t k = 0; k < plan().numbers.size(); ++k) {
    const BodyPlan::Number& number = plan().numbers[k];
    scalars_[k] = number.input < 0 ? number.value : slots_.scalar(draws[number.input]);
    draws_ |= number.input >= 0 && number.seed;
  }
}

void BodyRun::draw(const std::vector<int32_t>& draws, int64_t position) {
  if (!draws_) return;
  for (size_t k = 0; k < plan().numbers.size(); ++k) {
    const BodyPlan::Number& number = plan().numbers[k];
    if (number.input < 0 || !number.seed) continue;
    scalars_[k].i = seed_of_iteration(slots_.scalar(draws[number.input]).i, position);
  }
}

void BodyRun::write(size_t root, void* to) {
  const BodyProgram::Result& result = program_.results[root];
  if (result.first) outputs_[result.output] = to;
}

void BodyRun::copy(size_t root, void* to, int64_t bytes) const {
  const BodyProgram::Result& result = program_.results[root];
  if (result.first || bytes == 0) return;
  const void* from = result.argument >= 0 ? arguments_[result.argument] : outputs_[result.output];
  std::memcpy(to, from, bytes);
}

}  // namespace pullback
