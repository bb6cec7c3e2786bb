// The states of a loop, the last one first: the loop runs again, and its states are kept, or as
// many of them as memory allows. See replay.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/control/body_run.h"

namespace pullback {

struct ReplayProgram {
  const Loop* loop = nullptr;
  BodyProgram body;
  std::vector<int32_t> carry_of;  // of each argument of the body's plan; -1: it stays
  std::vector<int64_t> offsets;   // of each of what is carried in a state
  int64_t state_bytes = 0;
  int64_t work = 0;  // where two states lie
};
ReplayProgram compile_replay(const Loop& loop, const BodyPlan& replayed, int64_t* end);

class Replay {
 public:
  Replay(const ReplayProgram& program, const Slots& slots, char* scratch, int64_t trips);

  // What came into iteration t, t = trips - 1 … 0: afterwards carried(k) is a part of it.
  Status go_to(int64_t t);
  const char* carried(size_t k) const;

 private:
  static constexpr int64_t kStart = -1, kWork = -2;
  // What came into an iteration: with which the loop starts, in work, or in a place where it is
  // kept.
  struct State {
    int64_t t;
    int64_t place;
  };

  char* memory_of(const State& state) const;
  // One iteration, to the state that is next.
  Status advance(const State& next);
  int64_t next_kept(int64_t length) const;

  const ReplayProgram& program_;
  const Loop& loop_;
  const Slots& slots_;
  char* scratch_;
  int64_t trips_;
  BodyRun body_;
  int64_t places_;  // where states can be kept, with two lists behind them: …
  StepMemory memory_;
  State* kept_;    // … by rising t; the first is the start
  int64_t* free_;  // … and the places that are free
  int64_t kept_count_ = 1, free_count_ = 0;
  State now_{0, kStart};
};

}  // namespace pullback
