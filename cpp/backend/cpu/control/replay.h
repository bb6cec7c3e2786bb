// Replay: visits the states of a loop, the last one first, by running it again. Stores all of its
// states, or as many as the memory limit allows. See replay.cpp. Start at go_to().
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/control/body_run.h"

namespace pullback {

struct ReplayProgram {
  const Loop* loop = nullptr;
  BodyProgram body;
  // For each argument of the body's plan: its carry; none if it is constant.
  std::vector<std::optional<int32_t>> carry_of;
  std::vector<int64_t> offsets;  // of each carry in a state
  int64_t state_bytes = 0;
  int64_t work = 0;  // offset of two states
};
ReplayProgram compile_replay(const Loop& loop, const BodyPlan& replayed, int64_t* end);

class Replay {
 public:
  Replay(const ReplayProgram& program, const Slots& slots, char* scratch, int64_t trips);

  // Moves to the state before iteration t, for t = trips - 1 … 0; carry(k) then points into it.
  Status go_to(int64_t t);
  const char* carry(size_t k) const;

 private:
  static constexpr int64_t kStart = -1, kWork = -2;
  // The state before iteration t. `place`: kStart (initial values), kWork, or a place in memory_.
  struct State {
    int64_t t;
    int64_t place;
  };

  char* memory_of(const State& state) const;
  // Runs one iteration, which writes `next`.
  Status advance(const State& next);
  int64_t next_kept(int64_t length) const;

  const ReplayProgram& program_;
  const Loop& loop_;
  const Slots& slots_;
  char* scratch_;
  int64_t trips_;
  BodyRun body_;
  int64_t places_;  // number of states that memory_ can store; two lists follow them
  StepMemory memory_;
  State* kept_;    // stored states by rising t; the first is the start
  int64_t* free_;  // free places
  int64_t kept_count_ = 1, free_count_ = 0;
  State now_{0, kStart};
};

}  // namespace pullback
