// The CPU backend: compiles every step of a plan to a program of its kind, and runs these in order.
//
// Start at CpuExecutable::run. Each kind of step has a file in the folder of its family;
// docs/internals lists the folders.
#include <algorithm>
#include <bit>
#include <new>
#include <optional>
#include <variant>
#include <vector>

#include "backend/common/loop_run.h"
#include "backend/cpu/convolution/convolve.h"
#include "backend/cpu/convolution/pool_run.h"
#include "backend/cpu/data/index_run.h"
#include "backend/cpu/data/layout_run.h"
#include "backend/cpu/data/random_run.h"
#include "backend/cpu/data/scan_sort_run.h"
#include "backend/cpu/fourier/fourier_run.h"
#include "backend/cpu/linalg/library_run.h"
#include "backend/cpu/products/gemm.h"
#include "backend/cpu/tiles/group_run.h"
#include "base/callback.h"
#include "base/threads.h"
#include "plan/profile.h"

namespace pullback {
namespace {

// A product and the group that reads it. If panels are whole rows, the group runs on each panel as
// soon as it is computed (by_panel), otherwise after the product.
struct GemmStep {
  GemmProgram product;
  std::optional<GroupProgram> epilogue;
  bool by_panel = false;
};

// Offset of the group's scratch memory, which follows that of the product.
int64_t epilogue_scratch(const GemmStep& step) { return round_up(step.product.scratch_bytes, 64); }

Status run(const GroupProgram& step, const Slots& slots) {
  return GroupRun(step, slots, slots.scratch()).run();
}
Status run(const GemmStep& step, const Slots& slots) {
  char* scratch = slots.scratch();
  if (!step.epilogue) {
    run_gemm(step.product, slots, scratch);
    return {};
  }
  GroupRun epilogue(*step.epilogue, slots, scratch + epilogue_scratch(step));
  if (step.by_panel) {
    const int64_t panel = step.product.rows_of_panels();
    const auto on_panel = [&](int64_t first_row) { epilogue.run_unit(first_row / panel); };
    run_gemm(step.product, slots, scratch, PanelHook(on_panel));
    return epilogue.finish();
  }
  run_gemm(step.product, slots, scratch);
  return epilogue.run();
}

// A convolution and the group that reads it.
struct ConvolutionStep {
  ConvolutionProgram product;
  std::optional<GroupProgram> epilogue;
  bool by_panel = false;
};

int64_t epilogue_scratch(const ConvolutionStep& step) {
  return round_up(step.product.scratch_bytes, 64);
}

Status run(const ConvolutionStep& step, const Slots& slots) {
  char* scratch = slots.scratch();
  if (!step.epilogue) return run_convolution(step.product, slots, scratch);
  GroupRun epilogue(*step.epilogue, slots, scratch + epilogue_scratch(step));
  const auto on_panel = [&](int64_t panel) { epilogue.run_unit(panel); };
  const Status status = run_convolution(step.product, slots, scratch,
                                        step.by_panel ? PanelHook(on_panel) : PanelHook());
  if (!status) return status;
  return step.by_panel ? epilogue.finish() : epilogue.run();
}
Status run(const Pool& step, const Slots& slots) { return run_pool(step, slots); }
Status run(const LayoutProgram& step, const Slots& slots) { return run_layout(step, slots); }
Status run(const Gather& step, const Slots& slots) { return run_gather(step, slots); }
Status run(const ScatterAdd& step, const Slots& slots) { return run_scatter_add(step, slots); }
Status run(const ArgReduce& step, const Slots& slots) { return run_arg_reduce(step, slots); }
Status run(const Scan& step, const Slots& slots) { return run_scan(step, slots); }
Status run(const Sort& step, const Slots& slots) { return run_sort(step, slots); }
Status run(const Search& step, const Slots& slots) { return run_search(step, slots); }
Status run(const Random& step, const Slots& slots) { return run_random(step, slots); }
Status run(const Iota& step, const Slots& slots) { return run_iota(step, slots); }

Status run(const CallbackCall& step, const Slots& slots) {
  const auto array = [&](const View& view) {
    return CallbackArray{view.dtype, view.shape, slots.at(view)};
  };
  std::vector<CallbackArray> in;
  for (const View& view : step.in) in.push_back(array(view));
  auto* function = std::bit_cast<Callback*>(static_cast<intptr_t>(slots.scalar(step.function).i));
  return function->call(in, array(step.out)) ? Status{} : failure(Problem::Callback);
}

Status run(const LibraryStep& step, const Slots& slots) { return run_library(step, slots); }
Status run(const FourierStep& step, const Slots& slots) { return run_fourier(step, slots); }

using Compiled = std::variant<GroupProgram, GemmStep, ConvolutionStep, Pool, LayoutProgram, Gather,
                              ScatterAdd, ArgReduce, Random, Iota, Scan, Sort, Search, CallbackCall,
                              LibraryStep, FourierStep, LoopProgram, BranchProgram>;

// The lists follow what would be on a device.
Scratch scratch_with_lists(const ScratchBytes& bytes, const Slots& slots) {
  return {host_memory(), slots.scratch(), slots.scratch() + bytes.device};
}
Status run(const LoopProgram& step, const Slots& slots) {
  return run_loop(step, slots, scratch_with_lists(step.scratch, slots));
}
Status run(const BranchProgram& step, const Slots& slots) {
  return run_branch(step, slots, scratch_with_lists(step.scratch, slots));
}

Compiled compile_step(const Plan&, const TileGroup& work) { return compile_group(work); }
Compiled compile_step(const Plan&, const Gemm& work) {
  GemmStep out{compile_gemm(work), {}};
  if (!work.epilogue) return out;
  const int64_t rows = out.product.rows_of_panels();
  GroupProgram epilogue;
  out.by_panel = rows > 0 && compile_units(*work.epilogue, rows * out.product.n, &epilogue);
  out.epilogue = out.by_panel ? std::move(epilogue) : compile_group(*work.epilogue);
  return out;
}
Compiled compile_step(const Plan&, const Convolution& work) {
  ConvolutionStep out{compile_convolution(work), {}};
  if (!work.epilogue) return out;
  const int64_t panel = out.product.elements_of_panels();
  GroupProgram epilogue;
  out.by_panel = panel > 0 && compile_units(*work.epilogue, panel, &epilogue);
  out.epilogue = out.by_panel ? std::move(epilogue) : compile_group(*work.epilogue);
  return out;
}
Compiled compile_step(const Plan& plan, const Layout& work) {
  return compile_layout(work, plan.slots[work.out.slot].bytes);
}
Compiled compile_step(const Plan&, const LibraryCall& work) {
  if (work.form.routine == Routine::fourier) return compile_fourier(work);
  return compile_library(work);
}
Compiled compile_step(const Plan&, const Loop& work) { return compile_loop(work); }
Compiled compile_step(const Plan&, const Branch& work) { return compile_branch(work); }
template <class Work>
Compiled compile_step(const Plan&, const Work& work) {
  return work;
}

int64_t scratch_of(const GroupProgram& step) { return step.scratch_bytes; }
int64_t scratch_of(const GemmStep& step) {
  return epilogue_scratch(step) + (step.epilogue ? scratch_of(*step.epilogue) : 0);
}
int64_t scratch_of(const ConvolutionStep& step) {
  return epilogue_scratch(step) + (step.epilogue ? scratch_of(*step.epilogue) : 0);
}
int64_t scratch_of(const ScatterAdd& step) { return scratch_bytes(step); }
int64_t scratch_of(const LoopProgram& step) { return step.scratch.device + step.scratch.lists; }
int64_t scratch_of(const BranchProgram& step) { return step.scratch.device + step.scratch.lists; }
template <class Step>
int64_t scratch_of(const Step&) {
  return 0;
}

int64_t bytes_of(const GroupProgram& step) {
  const TileProgram& t = step.tiles;
  return bytes_of(step.reductions) + bytes_of(t.code) + bytes_of(t.folds) + bytes_of(t.directs) +
         bytes_of(t.gathers) + bytes_of(t.scatters) + bytes_of(t.repeats) + bytes_of(t.splats) +
         bytes_of(t.registers) + bytes_of(t.reduced);
}
int64_t bytes_of(const GemmStep& step) {
  return bytes_of(step.product.axes) + (step.epilogue ? bytes_of(*step.epilogue) : 0);
}
int64_t bytes_of(const ConvolutionStep& step) {
  int64_t bytes = bytes_of(step.product.phases) + (step.epilogue ? bytes_of(*step.epilogue) : 0);
  for (const ConvolutionPhase& phase : step.product.phases)
    bytes += pullback::bytes_of(phase.segments);
  return bytes;
}
int64_t bytes_of(const FourierStep& step) { return step.bytes(); }
template <class Step>
int64_t bytes_of(const Step&) {
  return 0;
}

class CpuExecutable : public Executable {
 public:
  explicit CpuExecutable(const Plan& plan) : plan_(plan) {
    steps_.reserve(plan.steps.size());
    for (const Step& step : plan.steps) {
      steps_.push_back(
          std::visit([&](const auto& work) { return compile_step(plan, work); }, step.work));
      const int64_t bytes =
          std::visit([](const auto& program) { return scratch_of(program); }, steps_.back());
      scratch_bytes_ = std::max(scratch_bytes_, bytes);
      bytes_ += std::visit([](const auto& program) { return bytes_of(program); }, steps_.back());
    }
    bytes_ += pullback::bytes_of(steps_);
    if (scratch_bytes_) scratch_bytes_ += Slots::scratch_offset(plan) - plan.arena_bytes;
  }

  int64_t bytes() const override { return bytes_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }

  Status run(const RunArguments& arguments) const noexcept override {
    RunArguments mine = arguments;
    const Slots slots(plan_, mine);
    Interruption interruption(arguments.interrupted);
    const size_t no_return = arguments.in_place ? plan_.point_of_no_return : steps_.size();
    Recording* const recording = Recording::open();
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (i == no_return) {
        interruption.disable();
        mine.interrupted = nullptr;  // for plans inside of steps
      }
      if (i > 0 && interruption.check()) return at_step(failure(Problem::Interrupted), i);
      count_step(plan_.steps[i]);
      const StepTimer timer(has_plans(plan_.steps[i]) ? nullptr : recording, plan_.steps[i]);
      const Status status = run_step(steps_[i], slots);
      if (!status) return failed(status, i);
      if (interruption.stopped()) return at_step(failure(Problem::Interrupted), i);
    }
    return {};
  }

 private:
  // Steps that call a callback or a library allocate lists of arrays, which may fail.
  static Status run_step(const Compiled& compiled, const Slots& slots) noexcept {
    try {
      return std::visit([&](const auto& step) { return pullback::run(step, slots); }, compiled);
    } catch (const std::bad_alloc&) {
      return failure(Problem::Memory);
    }
  }
  static Status at_step(Status status, size_t step) {
    status.step = static_cast<int32_t>(step);
    return status;
  }
  // A plan inside of a step has already reported its own step.
  Status failed(Status status, size_t step) const {
    if (!status.inner) status.inner = &plan_.steps[step];
    return at_step(status, step);
  }

  const Plan& plan_;
  std::vector<Compiled> steps_;
  int64_t scratch_bytes_ = 0;
  int64_t bytes_ = 0;
};

class CpuBackend : public Backend {
 public:
  const char* name() const override { return "cpu"; }
  // Measured. A tile has some KiB per live value, and 32 KiB are near the core.
  const Limits& limits() const override {
    static constexpr Limits limits{.longest_row = 8192,
                                   .small_domain = 1024,
                                   .large_domain = 8192,
                                   .large_reduction = 32768,
                                   .repeated = 3,
                                   .long_group = 48,
                                   .few_live = 6,
                                   .longest_group = 96};
    return limits;
  }
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
