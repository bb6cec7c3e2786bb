// Verifies loops and branches. Plans of bodies were verified when they were made, so only the sizes
// of their arguments and results remain.
#include <cstdint>
#include <functional>

#include "plan/backend.h"
#include "plan/verify/verify.h"

namespace pullback {
namespace {

int64_t bytes_of(const View& view) {
  return view.slot < 0 ? 0 : view.shape.size() * size_of(view.dtype);
}

// `given`: the bytes of an input, by number; `taken`: the bytes of a root's destination.
void verify_body(const BodyPlan& body, const std::function<int64_t(int32_t)>& given,
                 const std::function<int64_t(size_t)>& taken, size_t step) {
  const Plan& plan = body.plan->plan;
  const auto require = [&](bool holds, const char* what) {
    if (!holds) broken(step, what);
  };
  require(body.arguments.size() == plan.arguments.size(), "a body with other arguments");
  require(body.numbers.size() == static_cast<size_t>(plan.scalars), "a body with other numbers");
  for (size_t a = 0; a < body.arguments.size(); ++a) {
    require(plan.slots[plan.arguments[a]].bytes == given(body.arguments[a]),
            "an argument of a body of another size");
  }
  for (size_t k = 0; k < body.results.size(); ++k) {
    if (body.results[k] < 0) continue;
    require(static_cast<size_t>(body.results[k]) < plan.outputs.size(), "a result of no output");
    require(plan.slots[plan.outputs[body.results[k]]].bytes == taken(k),
            "a result of a body of another size");
  }
}

}  // namespace

void verify_loop(const Loop& loop, size_t step) {
  const auto carries = static_cast<size_t>(loop.carries());
  const auto require = [&](bool holds, const char* what) {
    if (!holds) broken(step, what);
  };
  const bool known = !loop.condition && !loop.counted;
  require(known || (loop.stacked_out == 0 && (loop.stacked_in == 0 || loop.replayed)),
          "a stack of unknown length");
  require(loop.draws.size() == loop.in.size(), "draws of other inputs");
  require(loop.out.size() == carries + loop.stacked_out + 1 + (known ? carries : 0),
          "other outputs");
  require(!loop.counted || bytes_of(loop.in.back()) == size_of(DType::Int64), "a count of no size");
  const auto entry = [&](const View& view) {
    return loop.trips > 0 ? bytes_of(view) / loop.trips : 0;
  };
  for (size_t k = 0; k < carries; ++k) {
    require(bytes_of(loop.in[k]) == loop.carry_bytes[k], "a start of another size");
    const View& last = loop.out[k];
    require(last.slot < 0 || bytes_of(last) == loop.carry_bytes[k], "an end of another size");
    const View* residual = known ? &loop.out[carries + loop.stacked_out + 1 + k] : nullptr;
    require(
        !residual || residual->slot < 0 || bytes_of(*residual) == loop.carry_bytes[k] * loop.trips,
        "a residual of another size");
  }
  const auto of_input = [&](int32_t input) -> int64_t {
    if (input < 0) {
      const auto k = static_cast<size_t>(-1 - input);
      require(loop.replayed && k < loop.residuals.size(), "a residual that is not there");
      return loop.replayed_bytes[loop.residuals[k]];
    }
    require(static_cast<size_t>(input) < loop.in.size(), "an input that is not there");
    const size_t k = static_cast<size_t>(input);
    const bool stacked =
        !loop.replayed && k >= carries && k < carries + static_cast<size_t>(loop.stacked_in);
    if (!stacked) return bytes_of(loop.in[k]);
    // Without iterations nothing is read.
    return loop.trips > 0 ? entry(loop.in[k]) : -1;
  };
  if (loop.trips != 0) {
    verify_body(
        loop.body, of_input,
        [&](size_t k) { return k < carries ? loop.carry_bytes[k] : entry(loop.out[k]); }, step);
  }
  if (loop.condition) {
    verify_body(*loop.condition, of_input, [](size_t) { return size_of(DType::Bool); }, step);
  }
  if (!loop.replayed) return;
  require(loop.replayed_from.size() == loop.replayed_bytes.size(), "a state of other parts");
  for (size_t k = 0; k < loop.replayed_from.size(); ++k) {
    require(of_input(loop.replayed_from[k]) == loop.replayed_bytes[k], "a start of another size");
  }
  verify_body(*loop.replayed, of_input, [&](size_t k) { return loop.replayed_bytes[k]; }, step);
}

void verify_branch(const Branch& branch, size_t step) {
  if (branch.choices.empty() || bytes_of(branch.in[0]) != size_of(DType::Int64)) {
    broken(step, "a choice of nothing");
  }
  for (const BodyPlan& choice : branch.choices) {
    verify_body(
        choice, [&](int32_t input) { return bytes_of(branch.in.at(input)); },
        [&](size_t k) { return bytes_of(branch.out.at(k)); }, step);
  }
}

}  // namespace pullback
