// Replays a loop for its states, the last one first. With memory for every state, all are stored in
// one forward run. With less, the stored states are spaced binomially, which minimises
// recomputation (Griewank and Walther, "Algorithm 799: revolve", 2000). A recomputed state has the
// same bits.
#include "backend/common/replay.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/threads.h"

namespace pullback {
namespace {

// The number of states that can be visited, the last one first, if the first is stored, `places`
// more can be stored, and no step is recomputed more than `times` times: (places + times + 1 choose
// times).
int64_t reach(int64_t places, int64_t times) {
  double out = 1;
  for (int64_t i = 1; i <= times; ++i) {
    out *= static_cast<double>(places + 1 + i) / static_cast<double>(i);
    if (out > 1e15) break;
  }
  return std::llround(out);
}

}  // namespace

ReplayProgram compile_replay(const Loop& loop, const BodyPlan& replayed, ScratchBytes* end) {
  ReplayProgram out{&loop};
  out.body = compile_body(replayed, end);
  for (const InputSource& argument : replayed.arguments) {
    const auto found = std::ranges::find(loop.replayed_from, argument.number);
    out.carry_of.emplace_back();
    if (found == loop.replayed_from.end()) continue;
    out.carry_of.back() = static_cast<int32_t>(found - loop.replayed_from.begin());
  }
  for (const int64_t bytes : loop.replayed_bytes) {
    out.offsets.push_back(out.state_bytes);
    out.state_bytes += round_up(bytes, 64);
  }
  out.work = take(&end->device, 2 * out.state_bytes);
  return out;
}

namespace {

int64_t places_for(const ReplayProgram& program, int64_t trips) {
  const int64_t all = std::max<int64_t>(trips - 1, 0);
  if (program.loop->memory <= 0) return all;
  // Two states are in `work`.
  const int64_t fit = program.loop->memory / std::max<int64_t>(program.state_bytes, 1) - 2;
  return std::clamp<int64_t>(fit, 0, all);
}

}  // namespace

Replay::Replay(const ReplayProgram& program, const Slots& slots, const Scratch& scratch,
               int64_t trips)
    : program_(program),
      loop_(*program.loop),
      slots_(slots),
      work_(scratch.device + program.work),
      trips_(trips),
      body_(program.body, slots, scratch),
      places_(places_for(program, trips)),
      memory_(places_ * program.state_bytes, scratch.memory),
      lists_((places_ + 1) * static_cast<int64_t>(sizeof(State) + sizeof(int64_t))) {
  body_.bind(loop_.in);
  if (!lists_.data()) return;
  kept_ = reinterpret_cast<State*>(lists_.data());
  free_ = reinterpret_cast<int64_t*>(kept_ + places_ + 1);
  kept_[0] = now_;
  for (int64_t place = places_; place-- > 0;) free_[free_count_++] = place;
}

char* Replay::memory_of(const State& state) const {
  if (state.place >= 0) return memory_.data() + state.place * program_.state_bytes;
  return work_ + state.t % 2 * program_.state_bytes;
}

const char* Replay::carry(size_t k) const {
  if (now_.place == kStart) return slots_.at(std::get<View>(loop_.in[loop_.replayed_from[k]]));
  return memory_of(now_) + program_.offsets[k];
}

Status Replay::advance(const State& next) {
  if (stop_requested()) return failure(Problem::Interrupted);
  for (size_t a = 0; a < program_.carry_of.size(); ++a) {
    if (const auto carried = program_.carry_of[a]) body_.argument(a) = carry(*carried);
  }
  body_.draw(loop_.in, loop_.reversed ? now_.t : trips_ - 1 - now_.t);
  char* const memory = memory_of(next);
  const size_t count = program_.offsets.size();
  for (size_t k = 0; k < count; ++k) body_.write(k, memory + program_.offsets[k]);
  const Status status = body_.run();
  if (!status) return status;
  for (size_t k = 0; k < count; ++k) {
    body_.copy(k, memory + program_.offsets[k], loop_.replayed_bytes[k]);
  }
  now_ = next;
  return {};
}

// For `length` states of which the first is stored: the distance to the next one to store.
int64_t Replay::next_kept(int64_t length) const {
  if (free_count_ >= length - 1) return 1;
  int64_t times = 1;
  while (reach(free_count_, times) < length) ++times;
  return std::clamp<int64_t>(reach(free_count_, times - 1), 1, length - 1);
}

Status Replay::go_to(int64_t t) {
  if (!memory_.data() || !lists_.data()) return failure(Problem::Memory);
  while (kept_[kept_count_ - 1].t > t) free_[free_count_++] = kept_[--kept_count_].place;
  now_ = kept_[kept_count_ - 1];
  while (now_.t < t) {
    const bool keeps = free_count_ > 0;
    const int64_t to = keeps ? now_.t + next_kept(t - now_.t + 1) : t;
    while (now_.t < to) {
      const bool keep = keeps && now_.t + 1 == to;
      const Status status = advance({now_.t + 1, keep ? free_[free_count_ - 1] : kWork});
      if (!status) return status;
    }
    if (!keeps) continue;
    --free_count_;
    kept_[kept_count_++] = now_;
  }
  return {};
}

}  // namespace pullback
