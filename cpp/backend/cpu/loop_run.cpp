// A loop runs the plan of its body again and again on memory that moves on: what is carried goes
// from one of two buffers to the other, or along its trail; entries of what is stacked are views.
// All that an iteration needs is in the step's scratch memory, which the run has allocated.
#include "backend/cpu/loop_run.h"

#include <cstring>

#include "base/threads.h"

namespace pullback {
namespace {

int64_t take(int64_t* end, int64_t bytes) {
  const int64_t at = *end;
  *end += round_up(bytes, 64);
  return at;
}

template <class T>
int64_t take_list(int64_t* end, size_t count) {
  return take(end, static_cast<int64_t>(count * sizeof(T)));
}

BodyProgram compile_body(const BodyPlan& body, int64_t* end) {
  const Plan& plan = body.plan->plan;
  BodyProgram out{&body};
  out.arguments = take_list<void*>(end, plan.arguments.size());
  out.outputs = take_list<void*>(end, plan.output_bytes.size());
  out.scalars = take_list<Scalar>(end, body.numbers.size());
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

int64_t bytes_of_entry(const View& view, int64_t trips) {
  return trips > 0 && view.slot >= 0 ? view.shape.size() * size_of(view.dtype) / trips : 0;
}

// A body that is being run.
class BodyRun {
 public:
  BodyRun(const BodyProgram& program, const Slots& slots, char* scratch)
      : program_(program),
        arguments_(reinterpret_cast<const void**>(scratch + program.arguments)),
        outputs_(reinterpret_cast<void**>(scratch + program.outputs)),
        scalars_(reinterpret_cast<Scalar*>(scratch + program.scalars)),
        run_{arguments_, scalars_, outputs_, scratch + program.arena, slots.interrupted(), false} {}

  // Operands that are the same in every iteration; of scalars what a first one has.
  void bind(const std::vector<View>& in, const std::vector<int32_t>& draws, const Slots& slots) {
    const BodyPlan& body = *program_.body;
    for (size_t a = 0; a < body.arguments.size(); ++a) {
      arguments_[a] = slots.at(in[body.arguments[a]]);
    }
    draws_ = false;
    for (size_t k = 0; k < body.numbers.size(); ++k) {
      const BodyPlan::Number& number = body.numbers[k];
      scalars_[k] = number.input < 0 ? number.value : slots.scalar(draws[number.input]);
      draws_ |= number.input >= 0 && number.seed;
    }
  }

  const void*& argument(size_t a) { return arguments_[a]; }

  // The seeds of an iteration.
  void draw(const std::vector<int32_t>& draws, const Slots& slots, int64_t position) {
    if (!draws_) return;
    const BodyPlan& body = *program_.body;
    for (size_t k = 0; k < body.numbers.size(); ++k) {
      const BodyPlan::Number& number = body.numbers[k];
      if (number.input < 0 || !number.seed) continue;
      scalars_[k].i = seed_of_iteration(slots.scalar(draws[number.input]).i, position);
    }
  }

  // Says where a root is to be written.
  void write(size_t root, void* to) {
    const BodyProgram::Result& result = program_.results[root];
    if (result.first) outputs_[result.output] = to;
  }
  Status run() const { return program_.body->plan->executable->run(run_); }
  // What the run has not written itself.
  void copy(size_t root, void* to, int64_t bytes) const {
    const BodyProgram::Result& result = program_.results[root];
    if (result.first || bytes == 0) return;
    const void* from = result.argument >= 0 ? arguments_[result.argument] : outputs_[result.output];
    std::memcpy(to, from, bytes);
  }

 private:
  const BodyProgram& program_;
  const void** arguments_;
  void** outputs_;
  Scalar* scalars_;
  RunArguments run_;
  bool draws_ = false;
};

class LoopRun {
 public:
  LoopRun(const LoopProgram& program, const Slots& slots)
      : program_(program),
        loop_(*program.loop),
        slots_(slots),
        scratch_(slots.scratch()),
        now_(reinterpret_cast<char**>(scratch_ + program.pointers)),
        next_(now_ + loop_.carry_bytes.size()),
        body_(program.body, slots, scratch_) {}

  Status run() {
    body_.bind(loop_.in, loop_.draws, slots_);
    for (size_t k = 0; k < carries(); ++k) now_[k] = slots_.at(loop_.in[k]);
    if (loop_.trips > 0) start_trails();
    int64_t count = 0;
    Status status = loop_.condition ? run_while(&count) : run_counted(&count);
    if (!status) return status;
    for (size_t k = 0; k < carries(); ++k) {
      const View& out = loop_.out[k];
      if (out.slot < 0 || loop_.carry_bytes[k] == 0) continue;
      char* to = slots_.at(out);
      if (to != now_[k]) std::memcpy(to, now_[k], loop_.carry_bytes[k]);
    }
    const View& trips = loop_.out[carries() + loop_.stacked_out];
    if (trips.slot >= 0) std::memcpy(slots_.at(trips), &count, sizeof count);
    return {};
  }

 private:
  size_t carries() const { return loop_.carry_bytes.size(); }
  bool is_carry(int32_t input) const { return static_cast<size_t>(input) < carries(); }
  const View& trail(size_t k) const { return loop_.out[carries() + loop_.stacked_out + 1 + k]; }
  bool has_trail(size_t k) const { return loop_.trips > 0 && trail(k).slot >= 0; }
  int64_t position(int64_t t) const { return loop_.reversed ? loop_.trips - 1 - t : t; }

  void start_trails() {
    for (size_t k = 0; k < carries(); ++k) {
      if (!has_trail(k) || loop_.carry_bytes[k] == 0) continue;
      char* at = slots_.at(trail(k)) + position(0) * loop_.carry_bytes[k];
      std::memcpy(at, now_[k], loop_.carry_bytes[k]);
      now_[k] = at;
    }
  }

  Status run_counted(int64_t* count) {
    for (; *count < loop_.trips; ++*count) {
      if (stop_requested()) return failure(Problem::Interrupted);
      const Status status = iterate(*count, *count + 1 == loop_.trips);
      if (!status) return status;
    }
    return {};
  }

  Status run_while(int64_t* count) {
    BodyRun condition(program_.condition, slots_, scratch_);
    condition.bind(loop_.in, loop_.draws, slots_);
    auto* answer = reinterpret_cast<bool*>(scratch_ + program_.answer);
    for (;; ++*count) {
      if (stop_requested()) return failure(Problem::Interrupted);
      point_at_carries(*loop_.condition, &condition);
      condition.draw(loop_.draws, slots_, *count);
      condition.write(0, answer);
      Status status = condition.run();
      if (!status) return status;
      condition.copy(0, answer, sizeof(bool));
      if (!*answer) return {};
      status = iterate(*count, false);
      if (!status) return status;
    }
  }

  void point_at_carries(const BodyPlan& plan, BodyRun* run) {
    for (size_t a = 0; a < plan.arguments.size(); ++a) {
      if (is_carry(plan.arguments[a])) run->argument(a) = now_[plan.arguments[a]];
    }
  }

  Status iterate(int64_t t, bool last) {
    const int64_t at = position(t);
    const auto& arguments = loop_.body.arguments;
    for (size_t a = 0; a < arguments.size(); ++a) {
      const int32_t input = arguments[a];
      if (is_carry(input)) {
        body_.argument(a) = now_[input];
      } else if (const int64_t k = input - loop_.carries(); k < loop_.stacked_in) {
        body_.argument(a) = slots_.at(loop_.in[input]) + at * program_.stacked_bytes[k];
      }
    }
    body_.draw(loop_.draws, slots_, at);
    for (size_t k = 0; k < carries(); ++k) {
      next_[k] = place_of_next(k, t, last);
      body_.write(k, next_[k]);
    }
    for (int32_t k = 0; k < loop_.stacked_out; ++k) {
      const View& out = loop_.out[carries() + k];
      if (out.slot >= 0) body_.write(carries() + k, entry(k, at));
    }
    const Status status = body_.run();
    if (!status) return status;
    for (int32_t k = 0; k < loop_.stacked_out; ++k) {
      const View& out = loop_.out[carries() + k];
      if (out.slot >= 0) {
        body_.copy(carries() + k, entry(k, at), program_.stacked_bytes[loop_.stacked_in + k]);
      }
    }
    for (size_t k = 0; k < carries(); ++k) body_.copy(k, next_[k], loop_.carry_bytes[k]);
    for (size_t k = 0; k < carries(); ++k) now_[k] = next_[k];
    return {};
  }

  char* entry(int32_t k, int64_t at) const {
    return slots_.at(loop_.out[carries() + k]) + at * program_.stacked_bytes[loop_.stacked_in + k];
  }

  char* place_of_next(size_t k, int64_t t, bool last) const {
    if (last && loop_.out[k].slot >= 0) return slots_.at(loop_.out[k]);
    if (!last && has_trail(k)) {
      return slots_.at(trail(k)) + position(t + 1) * loop_.carry_bytes[k];
    }
    return scratch_ + program_.buffers[k] + t % 2 * round_up(loop_.carry_bytes[k], 64);
  }

  const LoopProgram& program_;
  const Loop& loop_;
  const Slots& slots_;
  char* scratch_;
  char** now_;   // where what is carried lies, and …
  char** next_;  // … where the iteration writes it
  BodyRun body_;
};

}  // namespace

LoopProgram compile_loop(const Loop& loop) {
  LoopProgram out{&loop};
  out.body = compile_body(loop.body, &out.scratch_bytes);
  if (loop.condition) {
    out.condition = compile_body(*loop.condition, &out.scratch_bytes);
    out.answer = take(&out.scratch_bytes, sizeof(bool));
  }
  const int32_t carries = loop.carries();
  for (int32_t k = 0; k < loop.stacked_in; ++k) {
    out.stacked_bytes.push_back(bytes_of_entry(loop.in[carries + k], loop.trips));
  }
  for (int32_t k = 0; k < loop.stacked_out; ++k) {
    out.stacked_bytes.push_back(bytes_of_entry(loop.out[carries + k], loop.trips));
  }
  for (const int64_t bytes : loop.carry_bytes) {
    out.buffers.push_back(take(&out.scratch_bytes, 2 * round_up(bytes, 64)));
  }
  out.pointers = take_list<char*>(&out.scratch_bytes, size_t{2} * carries);
  return out;
}

BranchProgram compile_branch(const Branch& branch) {
  BranchProgram out{&branch};
  for (const BodyPlan& choice : branch.choices) {  // only one of them runs
    int64_t end = 0;
    out.choices.push_back(compile_body(choice, &end));
    out.scratch_bytes = std::max(out.scratch_bytes, end);
  }
  return out;
}

Status run_loop(const LoopProgram& program, const Slots& slots) {
  return LoopRun(program, slots).run();
}

Status run_branch(const BranchProgram& program, const Slots& slots) {
  const Branch& branch = *program.branch;
  int64_t index;
  std::memcpy(&index, slots.at(branch.in[0]), sizeof index);
  index = std::clamp<int64_t>(index, 0, static_cast<int64_t>(program.choices.size()) - 1);
  BodyRun choice(program.choices[index], slots, slots.scratch());
  choice.bind(branch.in, branch.draws, slots);
  const auto each = [&](auto&& f) {
    for (size_t k = 0; k < branch.out.size(); ++k) {
      const View& out = branch.out[k];
      if (out.slot >= 0) f(k, slots.at(out), out.shape.size() * size_of(out.dtype));
    }
  };
  each([&](size_t k, char* to, int64_t) { choice.write(k, to); });
  const Status status = choice.run();
  if (!status) return status;
  each([&](size_t k, char* to, int64_t bytes) { choice.copy(k, to, bytes); });
  return {};
}

}  // namespace pullback
