// A backend that computes nothing, for tests and benches of the planner. Tests can make its runs
// fail, to check the state after a failure.
#include <atomic>

#include "plan/backend.h"

namespace pullback {
namespace {

std::atomic<int> runs_until_failure{0};

bool fails_now() {
  int left = runs_until_failure.load(std::memory_order_relaxed);
  while (left > 0 && !runs_until_failure.compare_exchange_weak(left, left - 1)) {
  }
  return left == 1;
}

class NullExecutable : public Executable {
 public:
  explicit NullExecutable(const Plan& plan) : plan_(plan) {}

  Status run(const RunArguments&) const noexcept override {
    Status status;
    if (fails_now()) {
      status.problem = Problem::Injected;
      status.step = 0;
      return status;
    }
    for (const Step& step : plan_.steps) count_step(step);
    return status;
  }

 private:
  const Plan& plan_;
};

class NullBackend : public Backend {
 public:
  const char* name() const override { return "null"; }
  const Limits& limits() const override { return cpu_backend().limits(); }  // plans as for the CPU
  std::unique_ptr<Executable> compile(const Plan& plan) const override {
    return std::make_unique<NullExecutable>(plan);
  }
};

}  // namespace

const Backend& null_backend() {
  static const NullBackend backend;
  return backend;
}

void null_backend_fail(int after) { runs_until_failure.store(after); }

}  // namespace pullback
