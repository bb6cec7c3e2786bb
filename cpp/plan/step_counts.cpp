// Counts the steps that ran, so that tests can require "no matrix product ran twice".
#include <atomic>

#include "plan/backend.h"

namespace pullback {
namespace {

std::atomic<int64_t> counts[std::variant_size_v<Work>];

}  // namespace

StepCounts step_counts() {
  StepCounts out;
  for (size_t i = 0; i < std::variant_size_v<Work>; ++i) {
    out.of[i] = counts[i].load(std::memory_order_relaxed);
  }
  return out;
}

// Every step calls this, so it takes no lock: two simultaneous runs may lose a count.
void count_step(const Step& step, int64_t times) {
  std::atomic<int64_t>& count = counts[step.work.index()];
  count.store(count.load(std::memory_order_relaxed) + times, std::memory_order_relaxed);
}

}  // namespace pullback
