// Memory of a plan, for the limit of the plan cache; and which of its steps can fail.
#include "plan/plan.h"

#include <algorithm>

#include "ops/composite.h"
#include "plan/backend.h"

namespace pullback {

bool can_fail(const Instruction& instruction) {
  switch (traits(instruction.op).fails) {
    case Fails::Always:
      return true;
    case Fails::Integers:
      return !is_float(instruction.dtype);
    case Fails::Never:
      break;
  }
  return false;
}

namespace {

// One overload per kind of step and no default, so that a new kind does not compile without one.
bool can_fail(const TileGroup& group) {
  return std::any_of(group.instructions.begin(), group.instructions.end(),
                     [](const Instruction& instruction) { return can_fail(instruction); });
}
bool can_fail(const Gemm& gemm) { return gemm.epilogue && can_fail(*gemm.epilogue); }
bool can_fail(const Convolution&) { return true; }  // its tiles need memory
bool can_fail(const Pool&) { return true; }
bool can_fail(const Layout&) { return false; }
bool can_fail(const Gather& gather) { return !gather.checked; }
bool can_fail(const ScatterAdd& scatter) { return !scatter.checked && !scatter.equal; }
// These may need memory, which may not be available.
bool can_fail(const ArgReduce&) { return true; }
bool can_fail(const Scan&) { return true; }
bool can_fail(const Sort&) { return true; }
bool can_fail(const Search&) { return false; }
bool can_fail(const Random&) { return false; }
bool can_fail(const Iota&) { return false; }
bool can_fail(const CallbackCall&) { return true; }
bool can_fail(const LibraryCall&) { return true; }
bool can_fail(const BodyPlan& body) {
  const auto& steps = body.plan->plan.steps;
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) { return can_fail(step); });
}
bool can_fail(const Loop& loop) {
  // A replay needs memory.
  return loop.replayed || can_fail(loop.body) || (loop.condition && can_fail(*loop.condition));
}
bool can_fail(const Branch& branch) {
  return std::any_of(branch.choices.begin(), branch.choices.end(),
                     [](const BodyPlan& choice) { return can_fail(choice); });
}

}  // namespace

bool can_fail(const Step& step) {
  return std::visit([](const auto& work) { return can_fail(work); }, step.work);
}

const char* name_of(const Step& step) {
  const auto* call = std::get_if<LibraryCall>(&step.work);
  if (!call) {
    return step.composite == Composite::None ? name_of(step.source) : name_of(step.composite);
  }
  return call->form.who ? call->form.who : name_of(call->form.routine);
}

int64_t bytes_of(const TileGroup& group) {
  return bytes_of(group.loads) + bytes_of(group.scalars) + bytes_of(group.instructions) +
         bytes_of(group.stores) + bytes_of(group.reductions);
}

namespace {

// Its plan is counted where it is cached.
int64_t bytes_of_body(const BodyPlan& body) {
  return bytes_of(body.arguments) + bytes_of(body.numbers) + bytes_of(body.results);
}

}  // namespace

int64_t bytes_of(const Plan& plan) {
  int64_t bytes = bytes_of(plan.slots) + bytes_of(plan.steps) + bytes_of(plan.arguments) +
                  bytes_of(plan.outputs) + bytes_of(plan.output_bytes) + bytes_of(plan.replaced) +
                  bytes_of(plan.donated_arguments);
  for (const Step& step : plan.steps) {
    if (const TileGroup* group = group_of(step)) bytes += bytes_of(*group);
    if (const auto* call = std::get_if<CallbackCall>(&step.work)) bytes += bytes_of(call->in);
    if (const auto* call = std::get_if<LibraryCall>(&step.work)) {
      bytes += bytes_of(call->in) + bytes_of(call->out);
    }
    if (const auto* loop = std::get_if<Loop>(&step.work)) {
      bytes += bytes_of(loop->in) + bytes_of(loop->draws) + bytes_of(loop->out) +
               bytes_of(loop->carry_bytes) + bytes_of_body(loop->body);
      if (loop->condition) bytes += bytes_of_body(*loop->condition);
      bytes += bytes_of(loop->replayed_from) + bytes_of(loop->replayed_bytes) +
               bytes_of(loop->residuals);
      if (loop->replayed) bytes += bytes_of_body(*loop->replayed);
    }
    if (const auto* branch = std::get_if<Branch>(&step.work)) {
      bytes += bytes_of(branch->in) + bytes_of(branch->draws) + bytes_of(branch->out) +
               bytes_of(branch->choices);
      for (const BodyPlan& choice : branch->choices) bytes += bytes_of_body(choice);
    }
  }
  return bytes;
}

}  // namespace pullback
