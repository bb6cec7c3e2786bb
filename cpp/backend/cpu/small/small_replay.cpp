// The states of a loop with a condition, for its reverse: replays the loop, or finds that the loop
// is part of the same plan and writes its states in its only run. Start at find_reverse().
#include <algorithm>

#include "backend/cpu/small/small_compiler.h"
#include "plan/step_views.h"

namespace pullback {
namespace {

constexpr int64_t kMostRecordBytes = 4096;  // of the carries at the start of an iteration

bool same_view(const View& x, const View& y) {
  return x.slot == y.slot && x.dtype == y.dtype && x.offset == y.offset && x.shape == y.shape;
}

bool same_input(const BodyInput& x, const BodyInput& y) {
  const auto* view = std::get_if<View>(&x);
  const auto* other = std::get_if<View>(&y);
  if (view && other) return same_view(*view, *other);
  return !view && !other && std::get<RunScalar>(x).position == std::get<RunScalar>(y).position;
}

// True if `reverse` replays exactly the iterations of `loop`.
bool replays(const Loop& reverse, const Loop& loop) {
  if (!reverse.replayed || !reverse.counted || reverse.memory > 0 || !loop.condition) return false;
  const std::optional<View>& count = loop.out[loop.carries() + loop.stacked_out];
  const auto* trips = std::get_if<View>(&reverse.in.back());
  if (!count || !trips || !same_view(*count, *trips)) return false;
  const BodyPlan& body = loop.body;
  const BodyPlan& other = *reverse.replayed;
  if (body.plan != other.plan || body.results != other.results || loop.stacked_out ||
      reverse.replayed_bytes != loop.carry_bytes ||
      body.arguments.size() != other.arguments.size() ||
      body.numbers.size() != other.numbers.size()) {
    return false;
  }
  const auto carries = static_cast<size_t>(loop.carries());
  for (size_t k = 0; k < carries; ++k) {
    if (!same_input(loop.in[k], reverse.in[reverse.replayed_from[k]])) return false;
  }
  for (size_t a = 0; a < body.arguments.size(); ++a) {
    const auto number = static_cast<size_t>(body.arguments[a].number);
    const int32_t from = other.arguments[a].number;
    const auto place = std::ranges::find(reverse.replayed_from, from);
    const auto carry = static_cast<size_t>(place - reverse.replayed_from.begin());
    const bool same = number < carries
                          ? number == carry
                          : carry == carries && same_input(loop.in[number], reverse.in[from]);
    if (!same) return false;
  }
  for (size_t k = 0; k < body.numbers.size(); ++k) {
    const auto* input = std::get_if<BodyPlan::ScalarInput>(&body.numbers[k]);
    const auto* from = std::get_if<BodyPlan::ScalarInput>(&other.numbers[k]);
    const bool same = input && from ? !input->seed && !from->seed &&
                                          same_input(loop.in[input->input], reverse.in[from->input])
                                    : !input && !from &&
                                          std::get<Scalar>(body.numbers[k]).i ==
                                              std::get<Scalar>(other.numbers[k]).i;
    if (!same) return false;
  }
  return true;
}

}  // namespace

// The later step of the plan that replays the loop at `number`; null without one, or if a step
// between them writes to an input of both.
const Loop* SmallCompiler::find_reverse(const Scope& scope, size_t number) const {
  const std::vector<Step>& steps = scope.plan->steps;
  const auto& loop = std::get<Loop>(steps[number].work);
  int64_t bytes = 0;
  for (const int64_t of_carry : loop.carry_bytes) bytes += of_carry;
  if (bytes > kMostRecordBytes) return nullptr;
  const auto begin_of = [&](int32_t slot) { return int64_t{scope.slots[slot]}; };
  const auto overlaps = [&](const View& x, const View& y) {
    const int64_t x_end = begin_of(x.slot) + scope.plan->slots[x.slot].bytes;
    const int64_t y_end = begin_of(y.slot) + scope.plan->slots[y.slot].bytes;
    return begin_of(x.slot) < y_end && begin_of(y.slot) < x_end;
  };
  for (size_t other = number + 1; other < steps.size(); ++other) {
    const auto* reverse = std::get_if<Loop>(&steps[other].work);
    if (!reverse || !replays(*reverse, loop)) continue;
    const auto is_written = [&](const BodyInput& input, size_t first) {
      const auto* view = std::get_if<View>(&input);
      bool found = false;
      for (size_t between = first; view && between < other; ++between) {
        for_each_view(steps[between], [&](const View& at, bool written) {
          found |= written && overlaps(at, *view);
        });
      }
      return found;
    };
    bool changed = is_written(reverse->in.back(), number + 1);
    for (const BodyInput& input : loop.in) changed |= is_written(input, number);
    return changed ? nullptr : reverse;
  }
  return nullptr;
}

// Before the loop whose carries the record gets.
SmallCompiler::Record SmallCompiler::start_record(const Loop& reverse) {
  Record record{&reverse, take(8), number(0), number(0), program_.buffers++, 0};
  for (const int64_t bytes : reverse.replayed_bytes) record.bytes += bytes;
  copy(record.cursor, record.begin, 8);
  records_.push_back(record);
  return record;
}

// The record that was started for this translation of the reverse; the same plan may be part of the
// program more than once.
std::optional<SmallCompiler::Record> SmallCompiler::take_record(const Loop& reverse) {
  const auto found = std::ranges::find(records_, &reverse, &Record::reverse);
  if (found == records_.end()) return std::nullopt;
  const Record record = *found;
  records_.erase(found);
  return record;
}

void SmallCompiler::push_record(const Record& record, const std::vector<int32_t>& carries,
                                const std::vector<int64_t>& bytes) {
  if (record.bytes == 0) return;
  Code& room = add(Kind::Reserve, record.cursor, record.end, record.buffer);
  room.b = record.begin;
  room.value = record.bytes;
  int64_t offset = 0;
  for (size_t k = 0; k < carries.size(); ++k) {
    if (bytes[k] == 0) continue;
    push({record.cursor, 0, bytes[k]}, carries[k], false);
    Code& code = program_.code.back();
    code.length = static_cast<uint16_t>(offset);
    offset += bytes[k];
    code.value = offset == record.bytes ? record.bytes : 0;
  }
}

void SmallCompiler::pull_record(const Record& record, const std::vector<Stack>& states) {
  int64_t offset = 0;
  for (const Stack& state : states) {
    if (state.bytes == 0) continue;
    pull({record.cursor, state.at, state.bytes}, true);
    Code& code = program_.code.back();
    code.length = static_cast<uint16_t>(offset);
    offset += state.bytes;
    code.value = offset == record.bytes ? -record.bytes : 0;
  }
}

// Runs the replayed loop and stores the carries at the start of each iteration in buffers. `states`
// gets a stack for each carry.
bool SmallCompiler::add_replay(const Loop& loop, const Scope* around, int32_t trips,
                               Invariants* invariants, std::vector<Stack>* states) {
  std::vector<int32_t> carry;
  for (size_t k = 0; k < loop.replayed_bytes.size(); ++k) {
    const int64_t bytes = loop.replayed_bytes[k];
    carry.push_back(take(bytes));
    if (!fits()) return false;
    load(carry[k], present(invariants->in[loop.replayed_from[k]]), bytes);
    states->push_back({take(8), take(bytes), bytes, take(8)});
  }
  Body body;
  const auto place_of = [&](const InputSource& source) -> std::optional<int32_t> {
    const auto found = std::ranges::find(loop.replayed_from, source.number);
    if (found == loop.replayed_from.end()) return std::nullopt;
    return carry[found - loop.replayed_from.begin()];
  };
  if (!enter(present(loop.replayed), loop.in, around, place_of, invariants, &body)) return false;
  const int32_t left = take(8), steps = take(8);
  const int32_t leave = here();
  add(Kind::Begin, left, trips);
  for (const Stack& state : *states) {
    add(Kind::Buffer, state.buffer, trips, program_.buffers++).value =
        std::max<int64_t>(state.bytes, 1);
    copy(state.cursor, state.buffer, 8);
  }
  const auto push_states = [&] {
    for (size_t k = 0; k < carry.size(); ++k) push((*states)[k], carry[k], false);
  };
  push_states();
  copy(steps, number(0), 8);  // all iterations but the last one
  add(Kind::Count, steps, trips).value = -1;
  const int32_t single = here();
  add(Kind::Begin, left, steps);
  const int32_t begin = here();
  add_seeds(body, loop.reversed ? SmallProgram::CountedDown : SmallProgram::Counted, left, steps);
  if (!add_steps(body.scope)) return false;
  finish_carries(&body, carry, loop.replayed_bytes, begin);
  push_states();
  add(Kind::Next, left, 0).value = begin;
  program_.code[single].value = here();
  count(present(loop.replayed), steps, 0);
  program_.code[leave].value = here();
  return true;
}

}  // namespace pullback
