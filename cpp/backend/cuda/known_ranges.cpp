// Interval arithmetic over the steps of a plan. A range that leaves its dtype wraps, so that
// nothing is known of it.
#include "backend/cuda/known_ranges.h"

#include <algorithm>
#include <new>
#include <utility>
#include <variant>

#include "backend/cuda/body_ranges.h"
#include "plan/step_views.h"

namespace pullback::cuda {
namespace {

using Wide = __int128;

constexpr IntegerRange kNothing{INT64_MAX, INT64_MIN};

// All numbers of a dtype; of uint64 and of floating-point numbers nothing is known.
IntegerRange all_of(DType dtype) {
  if (dtype == DType::Bool) return {0, 1};
  if (!is_integer(dtype) || size_of(dtype) == 8) return {};
  const int64_t bits = 8 * size_of(dtype);
  if (is_unsigned(dtype)) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

IntegerRange fit(Wide low, Wide high, DType dtype) {
  const IntegerRange all = all_of(dtype);
  if (low < all.low || high > all.high || dtype == DType::UInt64) return all;
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

bool is_whole(DType dtype) { return dtype == DType::Bool || is_integer(dtype); }

IntegerRange product(const IntegerRange& a, const IntegerRange& b, DType dtype) {
  const auto [low, high] = std::minmax(
      {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high});
  return fit(low, high, dtype);
}

}  // namespace

KnownRanges::KnownRanges(const Plan& plan, const Slots& slots, const Scalar* scalars) noexcept
    : plan_(plan), slots_(&slots), scalars_(scalars), arguments_(BodyRanges::of(plan)) {
  forget();
}

KnownRanges::KnownRanges(const BodyPlan& body, const std::vector<IntegerRange>& arguments) noexcept
    : plan_(body.plan->plan), body_(&body), arguments_(&arguments) {
  forget();
}

void KnownRanges::forget() noexcept {
  try {
    ranges_.assign(plan_.slots.size(), kNothing);
  } catch (const std::bad_alloc&) {  // nothing is known
  }
}

bool KnownRanges::writes_integers(const Step& step) const {
  bool out = false;
  for_each_view(step, [&](const View& view, bool write) {
    out |= write && is_index(plan_.slots[view.slot].dtype);
  });
  return out;
}

IntegerRange KnownRanges::of(const View& view) const {
  return plan_.slots[view.slot].dtype == view.dtype ? of_slot(view.slot) : all_of(view.dtype);
}

IntegerRange KnownRanges::of_slot(int32_t number) const {
  const Slot& slot = plan_.slots[number];
  const IntegerRange all = all_of(slot.dtype);
  if (ranges_.empty()) return all;
  IntegerRange out = ranges_[number];
  if (slot.kind == SlotKind::Argument && out == kNothing) {
    out = arguments_ ? (*arguments_)[slot.index] : integers_at(slots_->at(number), slot.dtype);
  }
  const bool fits = out.low <= out.high && out.low >= all.low && out.high <= all.high;
  return fits ? out : all;  // numbers beyond the dtype have wrapped
}

void KnownRanges::note_outputs() const noexcept {
  try {
    for (size_t i = 0; i < ranges_.size(); ++i) {
      const Slot& slot = plan_.slots[i];
      const IntegerRange& range = ranges_[i];
      if (slot.kind != SlotKind::Output || !is_index(slot.dtype) || range.low > range.high)
        continue;
      if (range == all_of(slot.dtype) || range == IntegerRange{}) continue;
      note_range(slots_->at(static_cast<int32_t>(i)), slot.dtype, range);
    }
  } catch (const std::bad_alloc&) {  // later runs check their indices
  }
}

// Parts of a slot may be written by several steps.
void KnownRanges::set(const View& view, const IntegerRange& range) {
  const Slot& slot = plan_.slots[view.slot];
  if (slot.dtype != view.dtype) {
    ranges_[view.slot] = {};
    return;
  }
  const bool whole_slot = view.shape.size() * size_of(view.dtype) == slot.bytes;
  ranges_[view.slot] = whole_slot ? range : either(ranges_[view.slot], range);
}

void KnownRanges::add(const Step& step) noexcept {
  try {
    if (!ranges_.empty() && writes_integers(step)) set_results(step);
  } catch (const std::bad_alloc&) {
    ranges_.clear();
  }
}

void KnownRanges::set_results(const Step& step) {
  if (const auto* group = std::get_if<TileGroup>(&step.work)) return add_group(*group);
  if (const auto* loop = std::get_if<Loop>(&step.work)) {
    return set_each(loop->out, loop_ranges(*loop, *this).out);
  }
  if (const auto* branch = std::get_if<Branch>(&step.work)) {
    return set_each(branch->out, branch_ranges(*branch, *this));
  }
  const IntegerRange result = result_of(step.work);
  for_each_view(step, [&](const View& view, bool write) {
    if (write) set(view, is_whole(view.dtype) ? either(result, kNothing) : IntegerRange{});
  });
}

void KnownRanges::set_each(const std::vector<std::optional<View>>& out,
                           const std::vector<IntegerRange>& ranges) {
  for (size_t k = 0; k < out.size(); ++k) {
    const std::optional<View>& view = out[k];
    if (view) set(*view, is_index(view->dtype) ? ranges[k] : IntegerRange{});
  }
}

IntegerRange KnownRanges::result_of(const Work& work) const {
  if (const auto* iota = std::get_if<Iota>(&work)) return {0, iota->out.shape.size() - 1};
  if (const auto* arg = std::get_if<ArgReduce>(&work)) return {0, arg->reduced - 1};
  if (const auto* search = std::get_if<Search>(&work)) {
    return {0, search->sorted.shape.size()};
  }
  if (const auto* gather = std::get_if<Gather>(&work)) return of(gather->in);
  if (const auto* sort = std::get_if<Sort>(&work)) {
    return sort->op == Op::argsort ? IntegerRange{0, sort->length - 1} : of(sort->in);
  }
  if (const auto* layout = std::get_if<Layout>(&work)) {
    if (layout->add) return {};
    const IntegerRange in = of(layout->in);
    return layout->clear ? either(in, {0, 0}) : in;
  }
  if (const auto* random = std::get_if<Random>(&work)) {
    if (random->op == Op::permutation) return {0, random->out.shape.size() - 1};
    if (random->op != Op::random_integers) return {};
    const IntegerRange low = of(random->in[0]), last = of(random->in[1]);
    return {low.low, std::max(low.high, last.high)};  // `low` if `last` is less
  }
  return {};
}

const Scalar* KnownRanges::number_of(const ScalarLoad& load) const {
  if (!load.scalar) return &load.constant;
  const int32_t position = load.scalar->position;
  return scalars_ ? scalars_ + position : std::get_if<Scalar>(&body_->numbers[position]);
}

void KnownRanges::add_group(const TileGroup& group) {
  std::vector<IntegerRange> values;
  values.reserve(group.loads.size() + group.scalars.size() + group.instructions.size());
  for (const View& view : group.loads) {
    values.push_back(is_whole(view.dtype) ? of(view) : IntegerRange{});
  }
  for (const ScalarLoad& load : group.scalars) {
    const bool known = is_whole(load.dtype) && load.dtype != DType::UInt64;
    const Scalar* const number = number_of(load);
    values.push_back(known && number ? fit(number->i, number->i, load.dtype) : all_of(load.dtype));
  }
  for (const Instruction& instruction : group.instructions) {
    const bool known = is_whole(instruction.dtype) && is_whole(instruction.result);
    values.push_back(known ? range_of(instruction, values) : all_of(instruction.result));
  }
  for (const Store& store : group.stores) set(store.view, values[store.value]);
  for (const Reduction& r : group.reductions) {
    const bool same = r.op == Op::max || r.op == Op::min;
    set(r.out, same && r.dtype == r.out.dtype ? values[r.value] : all_of(r.out.dtype));
  }
}

IntegerRange KnownRanges::range_of(const Instruction& instruction,
                                   const std::vector<IntegerRange>& values) const {
  const DType dtype = instruction.result;
  const auto in = [&](int k) -> const IntegerRange& { return values[instruction.in[k]]; };
  const IntegerRange& a = in(0);
  switch (instruction.op) {
    case Op::cast:
      if (dtype == DType::Bool || instruction.dtype == DType::UInt64) return all_of(dtype);
      return fit(a.low, a.high, dtype);
    case Op::max:  // folds of rows
    case Op::min:
    case Op::pick:
      return instruction.dtype == dtype ? a : all_of(dtype);
    case Op::place:
      return fit(std::min<int64_t>(a.low, 0), std::max<int64_t>(a.high, 0), dtype);
    case Op::negative:
      return fit(-Wide{a.high}, -Wide{a.low}, dtype);
    case Op::add:
      return fit(Wide{a.low} + in(1).low, Wide{a.high} + in(1).high, dtype);
    case Op::subtract:
      return fit(Wide{a.low} - in(1).high, Wide{a.high} - in(1).low, dtype);
    case Op::multiply:
      return product(a, in(1), dtype);
    case Op::maximum:
      return fit(std::max(a.low, in(1).low), std::max(a.high, in(1).high), dtype);
    case Op::minimum:
      return fit(std::min(a.low, in(1).low), std::min(a.high, in(1).high), dtype);
    case Op::clip:  // min(max(a, b), c)
      return fit(std::min(std::max(a.low, in(1).low), in(2).low),
                 std::min(std::max(a.high, in(1).high), in(2).high), dtype);
    case Op::where:
      return either(in(1), in(2));
    case Op::remainder:  // of the sign of a positive divisor
      if (in(1).low <= 0 || dtype == DType::UInt64) return all_of(dtype);
      return fit(0, Wide{in(1).high} - 1, dtype);
    case Op::floor_divide:
      if (a.low < 0 || in(1).low <= 0 || dtype == DType::UInt64) return all_of(dtype);
      return fit(0, a.high / in(1).low, dtype);
    case Op::wrap_index:  // the step fails if a position is outside
      if (in(1).high <= 0) return all_of(dtype);
      if (a.low < 0) return {0, in(1).high - 1};
      return {a.low, std::max(a.low, std::min(a.high, in(1).high - 1))};
    default:
      return all_of(dtype);
  }
}

}  // namespace pullback::cuda
