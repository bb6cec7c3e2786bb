// Captured values and scanned inputs have the range of the loop's input. A carry has it if the body
// keeps it: bodies are evaluated with ranges, and a carry that leaves its range gets a wider one,
// until all stay in theirs. The exception is a counter, whose values the number of iterations
// determines.
#include "backend/cuda/body_ranges.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <variant>

#include "plan/step_views.h"

namespace pullback::cuda {
namespace {

thread_local const BodyRanges* innermost = nullptr;

Ranges ranges_of(const std::vector<BodyInput>& in, const KnownRanges& known) {
  Ranges out;
  for (const BodyInput& input : in) {
    const auto* view = std::get_if<View>(&input);
    out.push_back(view && is_index(view->dtype) ? known.of(*view) : IntegerRange{});
  }
  return out;
}

// By argument, from ranges by input and by residual.
Ranges of_arguments(const BodyPlan& body, const Ranges& inputs, const Ranges& residuals = {}) {
  Ranges out;
  for (const auto& [number, residual] : body.arguments) {
    out.push_back(residual ? residuals[number] : inputs[number]);
  }
  return out;
}

bool contains(const IntegerRange& range, const IntegerRange& other) {
  return range.low <= other.low && other.high <= range.high;
}

std::optional<int32_t> slot_of_root(const BodyPlan& body, size_t root) {
  const std::optional<int32_t> output = body.results[root];
  if (!output) return std::nullopt;
  return body.plan->plan.outputs[*output];
}

// The ranges of the roots, by those of the arguments.
Ranges of_roots(const BodyPlan& body, const Ranges& arguments) {
  KnownRanges known(body, arguments);
  for (const Step& step : body.plan->plan.steps) known.add(step);
  Ranges out;
  for (size_t k = 0; k < body.results.size(); ++k) {
    const std::optional<int32_t> slot = slot_of_root(body, k);
    out.push_back(slot ? known.of_slot(*slot) : IntegerRange{});
  }
  return out;
}

// The constant that a body adds to input `input` for its root, if it does nothing else.
std::optional<int64_t> addend(const BodyPlan& body, size_t root, int32_t input) {
  const Plan& plan = body.plan->plan;
  const std::optional<int32_t> result = slot_of_root(body, root);
  if (!result) return std::nullopt;
  std::optional<int64_t> out;
  for (const Step& step : plan.steps) {
    bool writes = false;
    for_each_view(step,
                  [&](const View& view, bool write) { writes |= write && view.slot == *result; });
    if (!writes) continue;
    const auto* group = std::get_if<TileGroup>(&step.work);
    if (!group || out) return std::nullopt;
    const auto store =
        std::ranges::find(group->stores, *result, [](const Store& s) { return s.view.slot; });
    if (store == group->stores.end() || store->view.dtype != DType::Int64) return std::nullopt;
    const auto loads = static_cast<int32_t>(group->loads.size());
    const auto numbers = static_cast<int32_t>(group->scalars.size());
    const int32_t at = store->value - loads - numbers;
    if (at < 0) return std::nullopt;
    const Instruction& sum = group->instructions[at];
    if (sum.op != Op::add || sum.dtype != DType::Int64) return std::nullopt;
    const int32_t left = std::min(sum.in[0], sum.in[1]), right = std::max(sum.in[0], sum.in[1]);
    if (left >= loads || right < loads || right >= loads + numbers) return std::nullopt;
    const View& load = group->loads[left];
    const Slot& from = plan.slots[load.slot];
    if (from.kind != SlotKind::Argument || load.dtype != from.dtype) return std::nullopt;
    const InputSource& source = body.arguments[from.index];
    if (source.residual || source.number != input) return std::nullopt;
    const ScalarLoad& number = group->scalars[right - loads];
    const Scalar* constant = &number.constant;
    if (number.scalar) {
      constant = std::get_if<Scalar>(&body.numbers[number.scalar->position]);
    }
    if (!constant || number.dtype != DType::Int64) return std::nullopt;
    out = constant->i;
  }
  return out;
}

// The range of a counter at the beginning of the first `trips` iterations; nullopt if it may
// overflow.
std::optional<IntegerRange> counted(const IntegerRange& start, int64_t step, int64_t trips) {
  if (start == IntegerRange{}) return std::nullopt;
  int64_t change = 0;
  IntegerRange out = start;
  if (__builtin_mul_overflow(step, std::max<int64_t>(trips - 1, 0), &change)) return std::nullopt;
  int64_t& end = change < 0 ? out.low : out.high;
  if (__builtin_add_overflow(end, change, &end)) return std::nullopt;
  return out;
}

struct Iterations {
  Ranges arguments;  // of the body, in every iteration
  Ranges carries;    // the same by carry
  Ranges roots;      // of every iteration
};

// `inputs`: the ranges before the first iteration. `start`: the input of each carry; root k is its
// next value. `trips`: the iterations at most, if known.
Iterations iterate(const BodyPlan& body, Ranges inputs, const Ranges& residuals,
                   const std::vector<int32_t>& start, std::optional<int64_t> trips) {
  Iterations out;
  std::vector<std::optional<IntegerRange>> counters;
  Ranges others = inputs;
  for (size_t k = 0; k < start.size(); ++k) {
    IntegerRange& range = inputs[start[k]];
    counters.emplace_back();
    others[start[k]] = {};
    const auto step = trips ? addend(body, k, start[k]) : std::nullopt;
    if (!step) continue;
    const auto before = counted(range, *step, *trips), all = counted(range, *step, *trips + 1);
    if (!before || !all) continue;
    counters.back() = all;
    range = others[start[k]] = *before;
  }
  const Ranges widest = of_roots(body, of_arguments(body, others, residuals));
  std::vector<int> tries(start.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    out.arguments = of_arguments(body, inputs, residuals);
    out.roots = of_roots(body, out.arguments);
    for (size_t k = 0; k < start.size(); ++k) {
      IntegerRange& range = inputs[start[k]];
      if (counters[k] || contains(range, out.roots[k])) continue;
      const int number = ++tries[k];
      range = number > 2 ? IntegerRange{} : either(range, number == 1 ? out.roots[k] : widest[k]);
      changed = true;
    }
  }
  for (size_t k = 0; k < start.size(); ++k) {
    out.carries.push_back(inputs[start[k]]);
    if (const auto& all = counters[k]) out.roots[k] = *all;
  }
  return out;
}

}  // namespace

LoopRanges loop_ranges(const Loop& loop, const KnownRanges& known) {
  LoopRanges out;
  out.out.resize(loop.out.size());
  if (loop.trips == 0) return out;  // no plan runs
  const Ranges inputs = ranges_of(loop.in, known);
  std::optional<int64_t> trips = loop.trips;
  if (loop.counted && inputs.back() != IntegerRange{}) trips = inputs.back().high;
  if (trips) trips = std::clamp<int64_t>(*trips, 0, INT64_MAX - 1);
  Ranges residuals;
  if (loop.replayed) {
    Iterations replayed = iterate(*loop.replayed, inputs, {}, loop.replayed_from, trips);
    for (const int32_t carry : loop.residuals) residuals.push_back(replayed.carries[carry]);
    out.replayed = std::move(replayed.arguments);
  }
  std::vector<int32_t> carries(static_cast<size_t>(loop.carries()));
  std::iota(carries.begin(), carries.end(), 0);
  Iterations body = iterate(loop.body, inputs, residuals, carries, trips);
  out.body = std::move(body.arguments);
  if (loop.condition) {
    Ranges during = inputs;
    std::ranges::copy(body.carries, during.begin());
    out.condition = of_arguments(*loop.condition, during);
  }
  const auto carried = static_cast<size_t>(loop.carries());
  for (size_t k = 0; k < body.roots.size(); ++k) {  // a carry is its input without iterations
    out.out[k] = k < carried ? either(inputs[k], body.roots[k]) : body.roots[k];
  }
  const size_t count = body.roots.size();
  out.out[count] = {0, trips.value_or(INT64_MAX)};
  for (size_t k = 0; loop.trips && k < carried; ++k) out.out[count + 1 + k] = body.carries[k];
  return out;
}

Ranges branch_ranges(const Branch& branch, const KnownRanges& known) {
  const Ranges inputs = ranges_of(branch.in, known);
  Ranges out;
  for (const BodyPlan& choice : branch.choices) {
    const Ranges roots = of_roots(choice, of_arguments(choice, inputs));
    if (out.empty()) out = roots;
    for (size_t k = 0; k < roots.size(); ++k) out[k] = either(out[k], roots[k]);
  }
  return out;
}

BodyRanges::BodyRanges(const Step& step, const KnownRanges& known) : outer_(innermost) {
  if (const auto* loop = std::get_if<Loop>(&step.work)) {
    LoopRanges ranges = loop_ranges(*loop, known);
    ranges_.emplace_back(&loop->body.plan->plan, std::move(ranges.body));
    if (loop->condition) {
      ranges_.emplace_back(&loop->condition->plan->plan, std::move(ranges.condition));
    }
    if (loop->replayed) {
      ranges_.emplace_back(&loop->replayed->plan->plan, std::move(ranges.replayed));
    }
  }
  if (const auto* branch = std::get_if<Branch>(&step.work)) {
    const Ranges inputs = ranges_of(branch->in, known);
    for (const BodyPlan& choice : branch->choices) {
      ranges_.emplace_back(&choice.plan->plan, of_arguments(choice, inputs));
    }
  }
  innermost = this;
}

BodyRanges::~BodyRanges() { innermost = outer_; }

const Ranges* BodyRanges::of(const Plan& plan) {
  if (!innermost) return nullptr;
  for (const auto& [body, ranges] : innermost->ranges_) {
    if (body == &plan) return &ranges;
  }
  return nullptr;
}

}  // namespace pullback::cuda
