// Runs the plan of a loop's body for each iteration, with pointers that advance: a carry alternates
// between two buffers, or advances along its residuals; entries of scanned inputs and of stacked
// outputs are views. The run has allocated all memory before, as scratch memory of the step.
#include "backend/common/loop_run.h"

#include <algorithm>

#include "base/threads.h"
#include "plan/profile.h"

namespace pullback {
namespace {

// `trips`: 0 if unknown.
int64_t bytes_of_entry(const View& view, int64_t trips) {
  return trips > 0 ? view.shape.size() * size_of(view.dtype) / trips : 0;
}

class LoopRun {
 public:
  LoopRun(const LoopProgram& program, const Slots& slots, const Scratch& scratch)
      : program_(program),
        loop_(*program.loop),
        slots_(slots),
        scratch_(scratch),
        now_(reinterpret_cast<char**>(scratch.lists + program.pointers)),
        next_(now_ + loop_.carry_bytes.size()),
        scanned_(next_ + loop_.carry_bytes.size()),
        stacked_(scanned_ + loop_.stacked_in),
        body_(program.body, slots, scratch) {}

  Status run() {
    body_.bind(loop_.in);
    for (size_t k = 0; k < carries(); ++k) now_[k] = slots_.at(input(k));
    for (int32_t k = 0; k < loop_.stacked_in && !loop_.replayed; ++k) {
      scanned_[k] = slots_.at(input(carries() + k));
    }
    for (int32_t k = 0; k < loop_.stacked_out; ++k) {
      stacked_[k] = slots_.at(loop_.out[carries() + k]);
    }
    trips_ = loop_.trips.value_or(0);
    if (loop_.counted) {
      memory().download(&trips_, slots_.at(input(loop_.in.size() - 1)), sizeof trips_);
    }
    trips_ = std::max<int64_t>(trips_, 0);
    if (trips_ > 0) start_residuals();
    int64_t count = trips_;
    const Status status = loop_.condition  ? run_while(&count)
                          : loop_.replayed ? run_replayed()
                                           : run_counted();
    if (!status) return status;
    for (size_t k = 0; k < carries(); ++k) {
      const std::optional<View>& out = loop_.out[k];
      if (!out || loop_.carry_bytes[k] == 0) continue;
      char* to = slots_.at(*out);
      if (to != now_[k]) memory().copy(to, now_[k], loop_.carry_bytes[k]);
    }
    const std::optional<View>& trips = loop_.out[carries() + loop_.stacked_out];
    if (trips) memory().upload(slots_.at(*trips), &count, sizeof count);
    return {};
  }

 private:
  DeviceMemory& memory() const { return scratch_.memory; }
  size_t carries() const { return loop_.carry_bytes.size(); }
  const View& input(size_t k) const { return std::get<View>(loop_.in[k]); }
  // Null if no step reads the residual, or if the loop stacks no residuals.
  char* residual(size_t k) const {
    if (loop_.trips.value_or(0) <= 0) return nullptr;
    return slots_.at(loop_.out[carries() + loop_.stacked_out + 1 + k]);
  }
  int64_t position(int64_t t) const { return loop_.reversed ? trips_ - 1 - t : t; }

  void start_residuals() {
    for (size_t k = 0; k < carries(); ++k) {
      char* const stack = residual(k);
      if (!stack || loop_.carry_bytes[k] == 0) continue;
      char* at = stack + position(0) * loop_.carry_bytes[k];
      memory().copy(at, now_[k], loop_.carry_bytes[k]);
      now_[k] = at;
    }
  }

  Status run_counted() {
    for (int64_t t = 0; t < trips_; ++t) {
      if (stop_requested()) return failure(Problem::Interrupted);
      const Status status = iterate(t, t + 1 == trips_);
      if (!status) return status;
    }
    return {};
  }

  // Visits the iterations of the replayed loop, the last one first.
  Status run_replayed() {
    Replay replay(program_.replay, slots_, scratch_, trips_);
    for (int64_t t = 0; t < trips_; ++t) {
      if (stop_requested()) return failure(Problem::Interrupted);
      Status status = replay.go_to(trips_ - 1 - t);
      if (!status) return status;
      for (const auto& [argument, number] : program_.residuals) {
        body_.argument(argument) = replay.carry(loop_.residuals[number]);
      }
      status = iterate(t, t + 1 == trips_);
      if (!status) return status;
    }
    return {};
  }

  Status run_while(int64_t* count) {
    BodyRun condition(program_.condition, slots_, scratch_);
    condition.bind(loop_.in);
    char* const answer = scratch_.device + program_.answer;
    for (*count = 0;; ++*count) {
      if (stop_requested()) return failure(Problem::Interrupted);
      for (const auto& [argument, k] : program_.condition_carries)
        condition.argument(argument) = now_[k];
      condition.draw(loop_.in, *count);
      condition.write(0, answer);
      Status status = condition.run();
      if (!status) return status;
      condition.copy(0, answer, sizeof(bool));
      bool holds = false;
      memory().download(&holds, answer, sizeof holds);
      if (!holds) return {};
      status = iterate(*count, false);
      if (!status) return status;
    }
  }

  Status iterate(int64_t t, bool last) {
    const int64_t at = position(t);
    for (const auto& [argument, k] : program_.carries) body_.argument(argument) = now_[k];
    for (const auto& [argument, k] : program_.scanned) {
      body_.argument(argument) = scanned_[k] + at * program_.stacked_bytes[k];
    }
    body_.draw(loop_.in, at);
    for (size_t k = 0; k < carries(); ++k) {
      next_[k] = place_of_next(k, t, last);
      body_.write(k, next_[k]);
    }
    for (int32_t k = 0; k < loop_.stacked_out; ++k) {
      if (loop_.out[carries() + k]) body_.write(carries() + k, entry(k, at));
    }
    const Status status = body_.run();
    if (!status) return status;
    for (int32_t k = 0; k < loop_.stacked_out; ++k) {
      if (loop_.out[carries() + k]) body_.copy(carries() + k, entry(k, at), out_bytes(k));
    }
    for (size_t k = 0; k < carries(); ++k) body_.copy(k, next_[k], loop_.carry_bytes[k]);
    for (size_t k = 0; k < carries(); ++k) now_[k] = next_[k];
    return {};
  }

  int64_t out_bytes(int32_t k) const {
    return program_.stacked_bytes[program_.stacked_bytes.size() - loop_.stacked_out + k];
  }
  char* entry(int32_t k, int64_t at) const { return stacked_[k] + at * out_bytes(k); }

  char* place_of_next(size_t k, int64_t t, bool last) const {
    char* const place = last ? slots_.at(loop_.out[k]) : residual(k);
    if (place) return last ? place : place + position(t + 1) * loop_.carry_bytes[k];
    return scratch_.device + program_.buffers[k] + t % 2 * round_up(loop_.carry_bytes[k], 64);
  }

  const LoopProgram& program_;
  const Loop& loop_;
  const Slots& slots_;
  const Scratch& scratch_;
  char** now_;         // addresses of the carry
  char** next_;        // addresses to which the iteration writes it
  char** scanned_;     // addresses of the scanned inputs
  char** stacked_;     // addresses of the stacked outputs
  int64_t trips_ = 0;  // 0 if not known before
  BodyRun body_;
};

}  // namespace

LoopProgram compile_loop(const Loop& loop) {
  LoopProgram out{&loop};
  out.body = compile_body(loop.body, &out.scratch);
  if (loop.condition) {
    out.condition = compile_body(*loop.condition, &out.scratch);
    out.answer = take(&out.scratch.device, sizeof(bool));
  }
  if (loop.replayed) out.replay = compile_replay(loop, *loop.replayed, &out.scratch);
  const int32_t carries = loop.carries();
  for (size_t a = 0; a < loop.body.arguments.size(); ++a) {
    const auto argument = static_cast<int32_t>(a);
    const auto [input, residual] = loop.body.arguments[a];
    if (residual) {
      out.residuals.push_back({argument, input});
    } else if (input < carries) {
      out.carries.push_back({argument, input});
    } else if (!loop.replayed && input < carries + loop.stacked_in) {
      out.scanned.push_back({argument, input - carries});
    }
  }
  for (size_t a = 0; loop.condition && a < loop.condition->arguments.size(); ++a) {
    const int32_t input = loop.condition->arguments[a].number;
    if (input < carries) out.condition_carries.push_back({static_cast<int32_t>(a), input});
  }
  const int64_t trips = loop.trips.value_or(0);
  for (int32_t k = 0; k < loop.stacked_in && !loop.replayed; ++k) {
    out.stacked_bytes.push_back(bytes_of_entry(std::get<View>(loop.in[carries + k]), trips));
  }
  for (int32_t k = 0; k < loop.stacked_out; ++k) {
    const std::optional<View>& view = loop.out[carries + k];
    out.stacked_bytes.push_back(view ? bytes_of_entry(*view, trips) : 0);
  }
  for (const int64_t bytes : loop.carry_bytes) {
    out.buffers.push_back(take(&out.scratch.device, 2 * round_up(bytes, 64)));
  }
  const int64_t pointers = int64_t{2} * carries + loop.stacked_in + loop.stacked_out;
  out.pointers = take(&out.scratch.lists, pointers * static_cast<int64_t>(sizeof(char*)));
  return out;
}

BranchProgram compile_branch(const Branch& branch) {
  BranchProgram out{&branch};
  for (const BodyPlan& choice : branch.choices) {  // only one of them runs
    ScratchBytes end;
    out.choices.push_back(compile_body(choice, &end));
    out.scratch = {std::max(out.scratch.device, end.device),
                   std::max(out.scratch.lists, end.lists)};
  }
  return out;
}

Status run_loop(const LoopProgram& program, const Slots& slots, const Scratch& scratch) {
  const RecordedLoop recorded;
  return LoopRun(program, slots, scratch).run();
}

Status run_branch(const BranchProgram& program, const Slots& slots, const Scratch& scratch) {
  const Branch& branch = *program.branch;
  int64_t index;
  scratch.memory.download(&index, slots.at(std::get<View>(branch.in[0])), sizeof index);
  index = std::clamp<int64_t>(index, 0, static_cast<int64_t>(program.choices.size()) - 1);
  BodyRun choice(program.choices[index], slots, scratch);
  choice.bind(branch.in);
  const auto each = [&](auto&& f) {
    for (size_t k = 0; k < branch.out.size(); ++k) {
      const std::optional<View>& out = branch.out[k];
      if (out) f(k, slots.at(*out), out->shape.size() * size_of(out->dtype));
    }
  };
  each([&](size_t k, char* to, int64_t) { choice.write(k, to); });
  const Status status = choice.run();
  if (!status) return status;
  each([&](size_t k, char* to, int64_t bytes) { choice.copy(k, to, bytes); });
  return {};
}

}  // namespace pullback
