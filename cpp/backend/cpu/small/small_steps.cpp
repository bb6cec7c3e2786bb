// Translates the steps of a body: branches, steps that run as a whole, and the scalars of both.
// Start at SmallCompiler::add_steps.
#include "backend/cpu/small/small_compiler.h"

namespace pullback {
namespace {

// Steps without a program and without scratch memory.
bool is_callable(const Step& step) {
  return std::holds_alternative<Random>(step.work) || std::holds_alternative<Gather>(step.work) ||
         std::holds_alternative<ArgReduce>(step.work) || std::holds_alternative<Iota>(step.work);
}

}  // namespace

// Lists the scalars of a body in the frame.
void SmallCompiler::add_scalars(const BodyPlan& body, const std::vector<BodyInput>& in,
                                const Scope* around, Body* out) {
  using Value = std::variant<Scalar, RunScalar, SeedAt>;
  // Scalars are copied as integers, which have all bits of the union.
  const auto fill = [&](int32_t at, const Value& value) {
    program_.constants.push_back({at, 1, DType::Int64, {}, {}});
    auto& constant = program_.constants.back();
    if (const auto* known = std::get_if<Scalar>(&value)) constant.value = *known;
    if (const auto* run = std::get_if<RunScalar>(&value)) constant.scalar = *run;
  };
  const auto count = static_cast<int32_t>(body.numbers.size());
  const int32_t list = out->scope.scalars_at = take(8 * count);
  for (int32_t k = 0; k < count; ++k) {
    const int32_t at = list + 8 * k;
    const auto* input = std::get_if<BodyPlan::ScalarInput>(&body.numbers[k]);
    Value value = Scalar{};
    if (!input) {
      value = std::get<Scalar>(body.numbers[k]);
    } else {
      const auto outer = std::get<RunScalar>(in[input->input]);
      value = around ? around->scalars[outer.position] : Value(outer);
    }
    const auto* made = std::get_if<SeedAt>(&value);
    if (input && input->seed) {
      const int32_t from = made ? made->at : take(8);
      if (!made) fill(from, value);
      out->seeds.emplace_back(at, from);
      value = SeedAt{at};
    } else if (made) {
      copy(at, made->at, 8);  // of this iteration of the loop around
    } else {
      fill(at, value);
    }
    out->scope.scalars.push_back(value);
  }
}

void SmallCompiler::add_seeds(const Body& body, SmallProgram::SeedPosition position,
                              int32_t counter, int32_t trips) {
  for (const auto& [at, from] : body.seeds) {
    Code& code = add(Kind::Seed, at, from, position);
    code.b = counter;
    code.c = trips;
  }
}

// A step that is run as a whole, on slots in the frame.
bool SmallCompiler::add_call(const Step& step, const Scope& scope) {
  const Plan& plan = *scope.plan;
  const size_t most = SmallProgram::StepCall::kMostSlots;
  if (plan.arguments.size() > most || plan.output_bytes.size() > most) return false;
  SmallProgram::StepCall call{&step, &plan, {}, {}, scope.arena, scope.scalars_at};
  for (const int32_t slot : plan.arguments) call.arguments.push_back(scope.slots[slot]);
  call.outputs.resize(plan.output_bytes.size());
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    if (plan.slots[s].kind == SlotKind::Output) call.outputs[plan.slots[s].index] = scope.slots[s];
  }
  program_.calls.push_back(std::make_shared<const SmallProgram::StepCall>(std::move(call)));
  add(Kind::RunStep, 0, 0).step = program_.calls.back().get();
  return true;
}

bool SmallCompiler::add_steps(const Scope& scope) {
  const std::vector<Step>& steps = scope.plan->steps;
  for (size_t number = 0; number < steps.size(); ++number) {
    const Step& step = steps[number];
    if (!fits()) return false;
    program_.origins.push_back({here(), &step});
    const bool added = [&] {
      if (const auto* group = std::get_if<TileGroup>(&step.work)) return add_group(*group, scope);
      if (const auto* layout = std::get_if<Layout>(&step.work)) return add_layout(*layout, scope);
      if (const auto* branch = std::get_if<Branch>(&step.work)) return add_branch(*branch, scope);
      if (const auto* loop = std::get_if<Loop>(&step.work)) {
        const auto [in, out] = places_of(loop->in, loop->out, scope);
        return add_loop(*loop, &scope, in, out, find_reverse(scope, number));
      }
      return is_callable(step) && add_call(step, scope);
    }();
    if (!added) return false;
  }
  return fits();
}

// Adds the runs of a body in a loop that has ended.
void SmallCompiler::count(const BodyPlan& body, int32_t trips, int64_t more) {
  const int32_t runs = number(0);
  program_.parts.push_back({&body.plan->plan, runs});
  add(Kind::Count, runs, trips).value = more;
}

std::pair<SmallCompiler::Places, SmallCompiler::Places> SmallCompiler::places_of(
    const std::vector<BodyInput>& in, const std::vector<std::optional<View>>& out,
    const Scope& scope) const {
  std::pair<Places, Places> places;
  for (const BodyInput& input : in) {
    const auto* view = std::get_if<View>(&input);
    places.first.push_back(view ? std::optional(Place{scope.at(*view)}) : std::nullopt);
  }
  for (const std::optional<View>& view : out) {
    places.second.push_back(view ? std::optional(Place{scope.at(*view)}) : std::nullopt);
  }
  return places;
}

// Each choice but the last begins with a jump to the next one.
bool SmallCompiler::add_branch(const Branch& branch, const Scope& scope) {
  const auto [in, out] = places_of(branch.in, branch.out, scope);
  Invariants invariants{in, std::vector<int32_t>(in.size(), 0)};
  const auto no_carry = [](const InputSource&) { return std::optional<int32_t>(); };
  const auto choices = static_cast<int32_t>(branch.choices.size());
  std::vector<int32_t> leaves;
  for (int32_t i = 0; i < choices; ++i) {
    const BodyPlan& choice = branch.choices[i];
    const int32_t test = here();
    if (i + 1 < choices) add(Kind::Above, 0, present(in[0]).at, i);
    Body body;
    if (!enter(choice, branch.in, &scope, no_carry, &invariants, &body)) return false;
    if (!body.seeds.empty() || !add_steps(body.scope)) return false;
    count(choice, number(0), 1);
    for (size_t k = 0; k < branch.out.size(); ++k) {
      const std::optional<View>& view = branch.out[k];
      if (view)
        copy(present(out[k]).at, present(body.roots[k]), view->shape.size() * size_of(view->dtype));
    }
    if (i + 1 == choices) break;
    leaves.push_back(here());
    add(Kind::Jump, 0, 0);
    program_.code[test].value = here();
  }
  for (const int32_t leave : leaves) program_.code[leave].value = here();
  return true;
}

}  // namespace pullback
