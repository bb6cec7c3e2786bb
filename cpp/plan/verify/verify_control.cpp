// Verifies loops and branches. Plans of bodies were verified when they were made, so only the sizes
// of their arguments and results remain.
#include <cstdint>
#include <functional>

#include "plan/backend.h"
#include "plan/verify/verify.h"

namespace pullback {
namespace {

int64_t bytes_of(const View& view) { return view.shape.size() * size_of(view.dtype); }
int64_t bytes_of(const BodyInput& input) {
  const auto* view = std::get_if<View>(&input);
  return view ? bytes_of(*view) : 0;
}
int64_t bytes_of(const std::optional<View>& view) { return view ? bytes_of(*view) : 0; }

// `given`: the bytes of an argument; `taken`: the bytes of a root's destination.
void check_body(const BodyPlan& body, const std::vector<BodyInput>& in,
                const std::function<int64_t(InputSource)>& given,
                const std::function<int64_t(size_t)>& taken, const Require& require) {
  const Plan& plan = body.plan->plan;
  require(body.arguments.size() == plan.arguments.size(), "a body with other arguments");
  require(body.numbers.size() == static_cast<size_t>(plan.scalars), "a body with other numbers");
  for (size_t a = 0; a < body.arguments.size(); ++a) {
    require(plan.slots[plan.arguments[a]].bytes == given(body.arguments[a]),
            "an argument of a body of another size");
  }
  for (const auto& number : body.numbers) {
    const auto* scalar = std::get_if<BodyPlan::ScalarInput>(&number);
    if (!scalar) continue;
    const auto input = static_cast<size_t>(scalar->input);
    require(input < in.size() && std::holds_alternative<RunScalar>(in[input]),
            "a seed or counter with memory");
  }
  for (size_t k = 0; k < body.results.size(); ++k) {
    const std::optional<int32_t> result = body.results[k];
    if (!result) continue;
    require(static_cast<size_t>(*result) < plan.outputs.size(), "a result of no output");
    require(plan.slots[plan.outputs[*result]].bytes == taken(k),
            "a result of a body of another size");
  }
}

}  // namespace

void Loop::check(const Require& require) const {
  const auto carried = static_cast<size_t>(carries());
  require(trips.has_value() == (!condition && !counted), "iterations that are counted otherwise");
  require(trips || (stacked_out == 0 && (stacked_in == 0 || replayed)),
          "a stack of unknown length");
  require(in.size() >= carried && out.size() == carried + stacked_out + 1 + (trips ? carried : 0),
          "other inputs or outputs");
  require(!counted || bytes_of(in.back()) == size_of(DType::Int64), "a count of no size");
  const int64_t entries = trips.value_or(0);
  const auto entry = [&](int64_t bytes) { return entries > 0 ? bytes / entries : 0; };
  for (size_t k = 0; k < carried; ++k) {
    require(bytes_of(in[k]) == carry_bytes[k], "a start of another size");
    require(!out[k] || bytes_of(out[k]) == carry_bytes[k], "an end of another size");
    if (!trips) continue;
    const std::optional<View>& residual = out[carried + stacked_out + 1 + k];
    require(!residual || bytes_of(residual) == carry_bytes[k] * entries,
            "a residual of another size");
  }
  const auto of_input = [&](InputSource argument) -> int64_t {
    const auto k = static_cast<size_t>(argument.number);
    if (argument.residual) {
      require(replayed && k < residuals.size(), "a residual that is not there");
      return replayed_bytes[residuals[k]];
    }
    require(k < in.size(), "an input that is not there");
    const bool stacked = !replayed && k >= carried && k < carried + static_cast<size_t>(stacked_in);
    if (!stacked) return bytes_of(in[k]);
    // Without iterations nothing is read.
    return entries > 0 ? entry(bytes_of(in[k])) : -1;
  };
  if (trips != 0) {
    check_body(
        body, in, of_input,
        [&](size_t k) { return k < carried ? carry_bytes[k] : entry(bytes_of(out[k])); }, require);
  }
  if (condition) {
    check_body(*condition, in, of_input, [](size_t) { return size_of(DType::Bool); }, require);
  }
  if (!replayed) return;
  require(replayed_from.size() == replayed_bytes.size(), "a state of other parts");
  for (size_t k = 0; k < replayed_from.size(); ++k) {
    require(of_input({replayed_from[k]}) == replayed_bytes[k], "a start of another size");
  }
  check_body(*replayed, in, of_input, [&](size_t k) { return replayed_bytes[k]; }, require);
}

void Branch::check(const Require& require) const {
  require(!choices.empty() && !in.empty() && bytes_of(in[0]) == size_of(DType::Int64),
          "a choice of nothing");
  for (const BodyPlan& choice : choices) {
    check_body(
        choice, in, [&](InputSource argument) { return bytes_of(in.at(argument.number)); },
        [&](size_t k) { return bytes_of(out.at(k)); }, require);
  }
}

}  // namespace pullback
