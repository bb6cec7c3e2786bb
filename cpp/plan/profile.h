// Measures the time of plans step by step. While a Recording is open on a thread, every step that
// this thread runs leaves a StepRecord in it. A Recording is used by one thread only. Start at
// StepTimer.
#pragma once

#include <chrono>
#include <vector>

#include "plan/plan.h"

namespace pullback {

// The minimal work of a step, whatever runs it.
struct StepCost {
  // Bytes read and written once: the memory of every distinct view, broadcast axes once.
  int64_t bytes = 0;
  // 2mnk for a product, and one for each operation on an element.
  int64_t operations = 0;
  // Elements that it visits: those of a tile group, else those of its largest view.
  int64_t elements = 0;
};
StepCost cost_of(const Step& step);

struct StepRecord {
  const char* kind;
  const char* source;  // name of the operation
  DType dtype;         // of its results
  StepCost cost;
  int64_t runs;  // more than one in the body of a loop
  double seconds;
  std::vector<Label> labels;
};

class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // The recording that is open on this thread, or null.
  static Recording* open();

  void add(const Step& step, double seconds) noexcept;
  // False if some records were lost for lack of memory.
  bool complete() const { return complete_; }
  const std::vector<StepRecord>& steps() const { return steps_; }

 private:
  friend class RecordedLoop;
  static constexpr size_t kNoLoop = static_cast<size_t>(-1);

  Recording* outer_;
  std::vector<StepRecord> steps_;
  std::vector<const Step*> of_;  // step of each record
  size_t loop_begin_ = kNoLoop;  // first record of the innermost loop
  bool complete_ = true;
};

// Marks a running loop: a step of its body has one record for all iterations.
class RecordedLoop {
 public:
  RecordedLoop() : recording_(Recording::open()) {
    if (!recording_) return;
    outer_ = recording_->loop_begin_;
    if (outer_ == Recording::kNoLoop) recording_->loop_begin_ = recording_->steps_.size();
  }
  ~RecordedLoop() {
    if (recording_) recording_->loop_begin_ = outer_;
  }
  RecordedLoop(const RecordedLoop&) = delete;
  RecordedLoop& operator=(const RecordedLoop&) = delete;

 private:
  Recording* recording_;
  size_t outer_ = Recording::kNoLoop;
};

// Times the step that runs while it exists. A backend calls Recording::open() once per run.
class StepTimer {
 public:
  StepTimer(Recording* recording, const Step& step) : recording_(recording), step_(step) {
    if (recording_) began_ = Clock::now();
  }
  ~StepTimer() {
    if (recording_) {
      recording_->add(step_, std::chrono::duration<double>(Clock::now() - began_).count());
    }
  }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Recording* recording_;
  const Step& step_;
  Clock::time_point began_;
};

}  // namespace pullback
