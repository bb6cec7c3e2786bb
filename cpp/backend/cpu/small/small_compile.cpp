// Translates a loop: its bodies become codes between jumps. Each carry has one place; the body
// writes its new value there directly if nothing reads the old one afterwards, else it is moved.
// Start at SmallCompiler::add_loop.
#include <algorithm>

#include "backend/cpu/small/small_compiler.h"

namespace pullback {
namespace {

constexpr int64_t kMostInvariantBytes = 16 * 1024;  // copied in each run

}  // namespace

// Assigns places to the slots of a body. `carry_of` returns the place of an argument that changes
// between iterations.
bool SmallCompiler::enter(const BodyPlan& body, const std::vector<BodyInput>& in,
                          const Scope* around, const CarryOf& carry_of, Invariants* invariants,
                          Body* out) {
  const Plan& plan = body.plan->plan;
  out->scope = {&plan, std::vector<int32_t>(plan.slots.size(), 0), {}};
  const int32_t arena = out->scope.arena = take(plan.arena_bytes);
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.kind == SlotKind::Temporary) {
      out->scope.slots[s] = static_cast<int32_t>(arena + slot.index);
    } else if (slot.kind == SlotKind::Output) {
      out->scope.slots[s] = take(slot.bytes);
    }
  }
  for (size_t a = 0; a < body.arguments.size(); ++a) {
    const int32_t slot = plan.arguments[a];
    const int64_t bytes = plan.slots[slot].bytes;
    const std::optional<int32_t> at = carry_of(body.arguments[a]);
    out->scope.slots[slot] = at ? *at : invariant(invariants, body.arguments[a].number, bytes);
  }
  add_scalars(body, in, around, out);
  for (const std::optional<int32_t> place : body.results) {
    out->roots.emplace_back();
    if (place) out->roots.back() = out->scope.slots[plan.outputs[*place]];
  }
  return fits();
}

// The place of an input that is the same in all iterations. It is loaded before the loop.
int32_t SmallCompiler::invariant(Invariants* invariants, int32_t input, int64_t bytes) {
  const Place from = present(invariants->in[input]);
  if (!from.external) return from.at;
  int32_t& at = invariants->at[input];
  if (at == 0) {
    at = take(bytes > kMostInvariantBytes ? INT32_MAX : bytes);
    if (fits()) load(at, from, bytes);
  }
  return at;
}

// Moves the results of a body to the places of the carries. The codes of the body begin at `begin`.
void SmallCompiler::finish_carries(Body* body, const std::vector<int32_t>& carries,
                                   const std::vector<int64_t>& bytes, int32_t begin) {
  const auto is_carry = [&](int32_t at) { return std::ranges::find(carries, at) != carries.end(); };
  // A result may also be an argument, such as the scanned entry, which the codes before wrote.
  const Scope& scope = body->scope;
  const auto is_written = [&](int32_t at) {
    for (size_t s = 0; s < scope.slots.size(); ++s) {
      if (scope.slots[s] == at && scope.plan->slots[s].kind == SlotKind::Output) return true;
    }
    return false;
  };
  const auto read_by_another = [&](size_t k) {
    for (size_t j = 0; j < carries.size(); ++j) {
      if (j != k && present(body->roots[j]) == carries[k]) return true;
    }
    return false;
  };
  for (size_t k = 0; k < carries.size(); ++k) {
    const int32_t from = present(body->roots[k]);
    if (is_carry(from) || !is_written(from) || read_by_another(k) ||
        !writes_directly(from, carries[k], bytes[k], begin)) {
      continue;
    }
    for (std::optional<int32_t>& root : body->roots) {
      if (root == from) root = carries[k];
    }
  }
  for (size_t k = 0; k < carries.size(); ++k) {  // the old value of another carry
    int32_t& from = present(body->roots[k]);
    if (from == carries[k] || !is_carry(from)) continue;
    const int32_t kept = take(bytes[k]);
    copy(kept, from, bytes[k]);
    from = kept;
  }
  for (size_t k = 0; k < carries.size(); ++k) copy(carries[k], present(body->roots[k]), bytes[k]);
}

// Replaces the block at `from` by the one at `to` if no code reads `to` after the first one that
// writes `from`.
bool SmallCompiler::writes_directly(int32_t from, int32_t to, int64_t bytes, int32_t begin) {
  if (bytes == 0 || !std::ranges::binary_search(blocks_, from)) return false;
  const auto in_block = [&](int32_t at, int32_t block) {
    return at >= block && at < block + round_up(bytes, 8);
  };
  const auto uses = [&](const Code& code, int32_t block) {
    return in_block(code.out, block) || in_block(code.a, block) || in_block(code.b, block) ||
           (in_block(code.c, block) && code.kind != Kind::FoldLanes);
  };
  bool written = false;
  for (int32_t i = begin; i < here(); ++i) {
    const Code& code = program_.code[i];
    if (code.kind == Kind::RunStep) return false;  // StepCall has offsets of its own
    if (code.kind == Kind::Address && in_block(code.a, to)) return false;  // read through pointers
    const bool first = !written && uses(code, from);
    written |= first;
    const bool reads_first = first && code.kind >= Kind::Casts;  // one element
    if (written && !reads_first && uses(code, to)) return false;
  }
  if (!written) return false;
  for (int32_t i = begin; i < here(); ++i) {
    Code& code = program_.code[i];
    for (int32_t* at : {&code.out, &code.a, &code.b, &code.c}) {
      if (in_block(*at, from)) *at += to - from;
    }
  }
  return true;
}

bool SmallCompiler::add_loop(const Loop& loop, const Scope* around, const Places& in,
                             const Places& out, const Loop* reverse) {
  if (loop.replayed && loop.memory > 0) return false;
  const auto carries = static_cast<size_t>(loop.carries());
  const int64_t known = std::max<int64_t>(loop.trips.value_or(0), 0);
  int32_t trips = 0;
  if (loop.counted) {
    trips = take(8);
    load(trips, present(in.back()), 8);
    const int dtype = static_cast<int>(DType::Int64);
    call(kernels().elementwise.of[static_cast<int>(Op::maximum)][dtype], trips, trips, number(0), 0,
         1);
  } else if (!loop.condition) {
    trips = number(known);
  }
  std::vector<int32_t> carry(carries);
  for (size_t k = 0; k < carries; ++k) {
    carry[k] = take(loop.carry_bytes[k]);
    if (!fits()) return false;
    load(carry[k], present(in[k]), loop.carry_bytes[k]);
  }
  Invariants invariants{in, std::vector<int32_t>(in.size(), 0)};

  std::vector<Stack> scanned, residuals, states, stacked;
  const auto stack_at = [&](const Place& place, int64_t bytes, std::vector<Stack>* to) {
    to->push_back({take(8), 0, bytes});
    start(to->back(), place.at, loop.reversed ? known - 1 : 0, place.external);
  };
  for (size_t k = 0; k < carries && known > 0; ++k) {
    const std::optional<Place>& place = out[carries + loop.stacked_out + 1 + k];
    if (!place || loop.carry_bytes[k] == 0) continue;
    stack_at(*place, loop.carry_bytes[k], &residuals);
    residuals.back().at = carry[k];
  }
  for (int32_t k = 0; k < loop.stacked_in && !loop.replayed && known > 0; ++k) {
    const View& view = std::get<View>(loop.in[carries + k]);
    const int64_t bytes = view.shape.size() * size_of(view.dtype) / known;
    stack_at(present(in[carries + k]), bytes, &scanned);
    scanned.back().at = take(bytes);
  }
  for (int32_t k = 0; k < loop.stacked_out && known > 0; ++k) {
    const std::optional<View>& view = loop.out[carries + k];
    if (!view) continue;
    const int64_t bytes = view->shape.size() * size_of(view->dtype) / known;
    stack_at(present(out[carries + k]), bytes, &stacked);
    stacked.back().at = static_cast<int32_t>(carries) + k;  // number of the root
  }
  const std::optional<Record> written =
      take_record(loop);  // by the loop that this one is the reverse of
  if (written) {
    for (const int64_t bytes : loop.replayed_bytes) states.push_back({0, take(bytes), bytes});
  } else if (loop.replayed && !add_replay(loop, around, trips, &invariants, &states)) {
    return false;
  }

  Body body;
  const auto place_of = [&](const InputSource& source) -> std::optional<int32_t> {
    if (source.residual) return states[loop.residuals[source.number]].at;
    const auto number = static_cast<size_t>(source.number);
    if (number < carries) return carry[number];
    if (!scanned.empty() && number < carries + loop.stacked_in) return scanned[number - carries].at;
    return std::nullopt;
  };
  if (!enter(loop.body, loop.in, around, place_of, &invariants, &body)) return false;
  Body condition;
  if (loop.condition &&
      !enter(*loop.condition, loop.in, around, place_of, &invariants, &condition)) {
    return false;
  }

  const int32_t done = take(8);
  int32_t begin = here();
  std::optional<Record> record;
  if (reverse) record = start_record(*reverse);
  if (loop.condition) {
    copy(done, number(0), 8);
    begin = here();
    add_seeds(condition, SmallProgram::Counted, done, trips);
    if (!add_steps(condition.scope)) return false;
  }
  const int32_t leave = here();
  if (loop.condition) {
    add(Kind::Unless, 0, present(condition.roots[0]));
  } else {
    add(Kind::Begin, done, trips);
    if (written) add(Kind::Cursor, written->cursor, written->cursor).value = -written->bytes;
    for (const Stack& state : states) {
      if (written) break;
      Code& code = add(Kind::CursorAtEnd, state.cursor, state.buffer);
      code.b = trips;
      code.value = state.bytes;
    }
    begin = here();
  }
  if (written) {
    pull_record(*written, states);
  } else {
    for (const Stack& state : states) pull(state, true);
  }
  if (record) push_record(*record, carry, loop.carry_bytes);
  for (const Stack& residual : residuals) push(residual, residual.at, loop.reversed);
  for (const Stack& entry : scanned) pull(entry, loop.reversed);
  const int32_t body_begin = here();
  add_seeds(body,
            loop.condition  ? SmallProgram::Counted
            : loop.reversed ? SmallProgram::Backward
                            : SmallProgram::CountedDown,
            done, trips);
  if (!add_steps(body.scope)) return false;
  for (const Stack& entry : stacked) push(entry, present(body.roots[entry.at]), loop.reversed);
  finish_carries(&body, carry, loop.carry_bytes, body_begin);
  add(loop.condition ? Kind::Again : Kind::Next, done, 0).value = begin;
  program_.code[leave].value = here();
  count(loop.body, loop.condition ? done : trips, 0);
  if (loop.condition) count(*loop.condition, done, 1);
  for (size_t k = 0; k < carries; ++k) {
    if (out[k]) store(present(out[k]), carry[k], loop.carry_bytes[k]);
  }
  const std::optional<Place>& number_of_trips = out[carries + loop.stacked_out];
  if (number_of_trips) store(*number_of_trips, loop.condition ? done : trips, 8);
  return fits();
}

bool SmallCompiler::compile(const Loop& loop) {
  Places in, out;
  const auto external = [&](const View& view) {
    program_.externals.push_back({take(8), view});
    return Place{program_.externals.back().at, true};
  };
  for (const BodyInput& input : loop.in) {
    const auto* view = std::get_if<View>(&input);
    in.push_back(view ? std::optional(external(*view)) : std::nullopt);
  }
  for (const std::optional<View>& view : loop.out) {
    out.push_back(view ? std::optional(external(*view)) : std::nullopt);
  }
  if (!add_loop(loop, nullptr, in, out)) return false;
  add(Kind::Stop, 0, 0);
  return true;
}

std::optional<SmallProgram> compile_small_loop(const Loop& loop) {
  SmallCompiler compiler;
  if (!compiler.compile(loop)) return std::nullopt;
  return compiler.program();
}

}  // namespace pullback
