// The CPU backend: every step of a plan is compiled to a program of its kind, and a run walks them.
//
// Start at CpuExecutable::run. What a kind of step does is in its own file: tile_run, reduce_run,
// gemm, layout_run, index_run, arg_reduce, random_run.
#include <variant>
#include <vector>

#include "backend/cpu/gemm.h"
#include "backend/cpu/index_run.h"
#include "backend/cpu/layout_run.h"
#include "backend/cpu/random_run.h"
#include "backend/cpu/reduce_run.h"
#include "backend/cpu/tile_run.h"
#include "base/threads.h"

namespace pullback {
namespace {

struct TilesStep {
  TileProgram program;
  bool reduces = false;
  ReduceProgram reduce;
};

Status run(const TilesStep& step, const Slots& slots) {
  return step.reduces ? run_reduction(step.program, step.reduce, slots)
                      : run_tiles(step.program, slots);
}
Status run(const GemmProgram& step, const Slots& slots) { return run_gemm(step, slots); }
Status run(const LayoutProgram& step, const Slots& slots) { return run_layout(step, slots); }
Status run(const Gather& step, const Slots& slots) { return run_gather(step, slots); }
Status run(const ScatterAdd& step, const Slots& slots) { return run_scatter_add(step, slots); }
Status run(const ArgReduce& step, const Slots& slots) { return run_arg_reduce(step, slots); }
Status run(const Random& step, const Slots& slots) { return run_random(step, slots); }
Status run(const Iota& step, const Slots& slots) { return run_iota(step, slots); }

using Compiled = std::variant<TilesStep, GemmProgram, LayoutProgram, Gather, ScatterAdd, ArgReduce,
                              Random, Iota>;

Compiled compile_step(const TileGroup& work) {
  TilesStep out;
  out.program = compile_tiles(work);
  out.reduces = !work.reductions.empty();
  if (out.reduces) out.reduce = compile_reduction(work.reductions.front(), out.program);
  return out;
}
Compiled compile_step(const Gemm& work) { return compile_gemm(work); }
Compiled compile_step(const Layout& work) { return compile_layout(work); }
template <class Work>
Compiled compile_step(const Work& work) {
  return work;
}

class CpuExecutable : public Executable {
 public:
  explicit CpuExecutable(const Plan& plan) : plan_(plan) {
    steps_.reserve(plan.steps.size());
    for (const Step& step : plan.steps) {
      steps_.push_back(std::visit([](const auto& work) { return compile_step(work); }, step.work));
    }
  }

  Status run(const RunArguments& arguments) const noexcept override {
    const Slots slots(plan_, arguments);
    Interruption interruption(arguments.interrupted);
    const size_t no_return = arguments.in_place ? plan_.point_of_no_return : steps_.size();
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (i == no_return) interruption.refuse();
      if (i > 0 && interruption.ask()) return at_step(failure(Problem::Interrupted), i);
      count_step(plan_.steps[i]);
      const Status status =
          std::visit([&](const auto& step) { return pullback::run(step, slots); }, steps_[i]);
      if (!status) return at_step(status, i);
      if (interruption.stopped()) return at_step(failure(Problem::Interrupted), i);
    }
    return {};
  }

 private:
  static Status at_step(Status status, size_t step) {
    status.step = static_cast<int32_t>(step);
    return status;
  }

  const Plan& plan_;
  std::vector<Compiled> steps_;
};

class CpuBackend : public Backend {
 public:
  const char* name() const override { return "cpu"; }
  std::unique_ptr<Executable> compile(const Plan& plan) const override {
    return std::make_unique<CpuExecutable>(plan);
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace pullback
