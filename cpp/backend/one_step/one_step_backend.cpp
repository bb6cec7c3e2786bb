// A backend that runs each step as a plan of its own on the CPU backend, with copies of its slots:
// as a device does with the kinds of steps that it lacks. For tests: results have the same bits as
// those of the CPU backend.
#include <memory>

#include "backend/common/copied_steps.h"

namespace pullback {
namespace {

class OneStepBackend : public Backend {
 public:
  const char* name() const override { return "one_step"; }
  const Limits& limits() const override { return cpu_backend().limits(); }
  std::unique_ptr<Executable> compile(const Plan& plan) const override {
    return std::make_unique<CopiedSteps>(plan, host_memory());
  }
};

}  // namespace

const Backend& one_step_backend() {
  static const OneStepBackend backend;
  return backend;
}

}  // namespace pullback
