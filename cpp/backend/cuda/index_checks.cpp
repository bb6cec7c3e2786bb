// Results of checks that ran early are kept until their steps are due.
#include "backend/cuda/index_checks.h"

#include <algorithm>

namespace pullback::cuda {

Status IndexCheckRun::check(size_t step, const KnownRanges& known, bool (*interrupted)()) {
  const auto it = std::ranges::lower_bound(checks_, step, {}, &IndexChecks::Check::step);
  if (it->launch->is_inside(scalars_, known)) return {};
  const auto number = static_cast<size_t>(it - checks_.begin());
  found_.resize(checks_.size());
  done_.resize(checks_.size());
  if (!done_[number]) {
    const Status status = wait(number, known, interrupted);
    if (!status) return status;
  }
  return it->launch->outcome(found_[number], slots_, scalars_);
}

Status IndexCheckRun::wait(size_t first, const KnownRanges& known, bool (*interrupted)()) {
  const size_t step = checks_[first].step;
  std::vector<size_t> running;
  for (size_t i = first; i < checks_.size(); ++i) {
    const IndexChecks::Check& check = checks_[i];
    if (done_[i] || check.ready > step) continue;
    if (i > first && check.launch->is_inside(scalars_, known)) continue;
    check.launch->queue_check(slots_, scalars_, at_ + i * sizeof(uint64_t));
    running.push_back(i);
  }
  if (!memory_.wait_until_done(interrupted)) return failure(Problem::Interrupted);
  std::vector<uint64_t> results(running.back() + 1 - first);
  memory_.download(results.data(), at_ + first * sizeof(uint64_t),
                   static_cast<int64_t>(results.size() * sizeof(uint64_t)));
  for (const size_t i : running) {
    found_[i] = results[i - first];
    done_[i] = true;
  }
  return {};
}

}  // namespace pullback::cuda
