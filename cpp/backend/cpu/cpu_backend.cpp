// The CPU backend: compiles every step of a plan to a program of its kind, and runs these in order.
//
// Start at CpuExecutable::run. Each kind of step has a file in the folder of its family;
// docs/internals lists the folders.
#include <algorithm>
#include <bit>
#include <functional>
#include <new>
#include <optional>
#include <utility>
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
#include "backend/cpu/small/native_code.h"
#include "backend/cpu/tiles/group_run.h"
#include "base/callback.h"
#include "base/threads.h"
#include "plan/profile.h"

namespace pullback {
namespace {

// A step that is ready to run. It may refer to its Work, which the plan stores.
struct CompiledStep {
  std::function<Status(const Slots&)> run;
  int64_t scratch_bytes = 0;  // of Slots::scratch()
  int64_t bytes = 0;
};

int64_t program_bytes(const GroupProgram& step) {
  const TileProgram& t = step.tiles;
  return bytes_of(step.reductions) + bytes_of(t.code) + bytes_of(t.folds) + bytes_of(t.directs) +
         bytes_of(t.segments) + bytes_of(t.gathers) + bytes_of(t.scatters) + bytes_of(t.repeats) +
         bytes_of(t.splats) + bytes_of(t.registers) + bytes_of(t.reduced);
}
int64_t program_bytes(const GemmProgram& product) { return bytes_of(product.axes); }
int64_t program_bytes(const ConvolutionProgram& product) {
  int64_t bytes = bytes_of(product.phases);
  for (const ConvolutionPhase& phase : product.phases) bytes += bytes_of(phase.segments);
  return bytes;
}

// A step without a program: `run_step` reads its Work.
template <auto run_step, class Work>
CompiledStep interpreted(const Work& work, int64_t scratch_bytes = 0) {
  return {[&work](const Slots& slots) { return run_step(work, slots); }, scratch_bytes};
}

template <auto run_step, class Program>
CompiledStep compiled(Program program, int64_t scratch_bytes = 0, int64_t bytes = 0) {
  return {[program = std::move(program)](const Slots& slots) { return run_step(program, slots); },
          scratch_bytes, bytes + static_cast<int64_t>(sizeof(Program))};
}

CompiledStep compile_step(const TileGroup& work, const Plan&) {
  GroupProgram program = compile_group(work);
  const int64_t scratch = program.scratch_bytes, bytes = program_bytes(program);
  return {[program = std::move(program)](const Slots& slots) {
            return GroupRun(program, slots, slots.scratch()).run();
          },
          scratch, bytes};
}

// A product and its epilogue. If the product has panels and the epilogue can be cut into them, it
// runs on each panel as soon as that is computed (by_panel), otherwise after the product.
// run_product(program, slots, scratch, hook) calls the hook with the number of each panel.
template <class Product, class RunProduct>
CompiledStep compile_product(Product product, const std::optional<TileGroup>& epilogue,
                             int64_t panel_elements, RunProduct run_product) {
  if (!epilogue) {
    const int64_t scratch = product.scratch_bytes, bytes = program_bytes(product);
    return {[product = std::move(product), run_product](const Slots& slots) {
              return run_product(product, slots, slots.scratch(), PanelHook());
            },
            scratch, bytes};
  }
  GroupProgram group;
  const bool by_panel = panel_elements > 0 && compile_units(*epilogue, panel_elements, &group);
  if (!by_panel) group = compile_group(*epilogue);
  const int64_t group_scratch = round_up(product.scratch_bytes, 64);
  const int64_t scratch = group_scratch + group.scratch_bytes;
  const int64_t bytes = program_bytes(product) + program_bytes(group);
  return {[=, product = std::move(product), group = std::move(group)](const Slots& slots) {
            GroupRun run(group, slots, slots.scratch() + group_scratch);
            const auto on_panel = [&](int64_t panel) { run.run_unit(panel); };
            const Status status = run_product(product, slots, slots.scratch(),
                                              by_panel ? PanelHook(on_panel) : PanelHook());
            if (!status) return status;
            return by_panel ? run.finish() : run.run();
          },
          scratch, bytes};
}

CompiledStep compile_step(const Gemm& work, const Plan&) {
  GemmProgram program = compile_gemm(work);
  const int64_t rows = program.rows_of_panels(), elements = rows * program.n;
  const auto run = [rows](const GemmProgram& product, const Slots& slots, char* scratch,
                          PanelHook hook) {
    const auto on_panel = [&](int64_t first_row) { hook(first_row / rows); };
    run_gemm(product, slots, scratch, rows ? PanelHook(on_panel) : hook);
    return Status{};
  };
  return compile_product(std::move(program), work.epilogue, elements, run);
}
CompiledStep compile_step(const Convolution& work, const Plan&) {
  ConvolutionProgram program = compile_convolution(work);
  const int64_t elements = program.elements_of_panels();
  return compile_product(std::move(program), work.epilogue, elements, run_convolution);
}
CompiledStep compile_step(const Pool& work, const Plan&) { return interpreted<run_pool>(work); }
CompiledStep compile_step(const Layout& work, const Plan& plan) {
  return compiled<run_layout>(compile_layout(work, plan.slots[work.out.slot].bytes));
}
CompiledStep compile_step(const Gather& work, const Plan&) { return interpreted<run_gather>(work); }
CompiledStep compile_step(const ScatterAdd& work, const Plan&) {
  return interpreted<run_scatter_add>(work, scratch_bytes(work));
}
CompiledStep compile_step(const ArgReduce& work, const Plan&) {
  return interpreted<run_arg_reduce>(work);
}
CompiledStep compile_step(const Random& work, const Plan&) { return interpreted<run_random>(work); }
CompiledStep compile_step(const Iota& work, const Plan&) { return interpreted<run_iota>(work); }
CompiledStep compile_step(const Scan& work, const Plan&) { return interpreted<run_scan>(work); }
CompiledStep compile_step(const Sort& work, const Plan&) { return interpreted<run_sort>(work); }
CompiledStep compile_step(const Search& work, const Plan&) { return interpreted<run_search>(work); }

Status run_callback(const CallbackCall& step, const Slots& slots) {
  const auto array = [&](const View& view) {
    return CallbackArray{view.dtype, view.shape, slots.at(view)};
  };
  std::vector<CallbackArray> in;
  for (const View& view : step.in) in.push_back(array(view));
  auto* function = std::bit_cast<Callback*>(static_cast<intptr_t>(slots.scalar(step.function).i));
  return function->call(in, array(step.out)) ? Status{} : failure(Problem::Callback);
}
CompiledStep compile_step(const CallbackCall& work, const Plan&) {
  return interpreted<run_callback>(work);
}

CompiledStep compile_step(const LibraryCall& work, const Plan&) {
  if (work.form.routine != Routine::fourier) return compiled<run_library>(compile_library(work));
  FourierStep program = compile_fourier(work);
  const int64_t bytes = program.bytes();
  return compiled<run_fourier>(std::move(program), 0, bytes);
}

// A loop or a branch. Its lists follow what would be on a device.
template <auto run_step, class Program>
CompiledStep compiled_control(Program program) {
  const ScratchBytes bytes = program.scratch;
  return {[program = std::move(program)](const Slots& slots) {
            char* const scratch = slots.scratch();
            char* const lists = scratch + program.scratch.device;
            return run_step(program, slots, Scratch{host_memory(), scratch, lists});
          },
          bytes.device + bytes.lists, static_cast<int64_t>(sizeof(Program))};
}
CompiledStep compile_step(const Loop& work, const Plan&) {
  CompiledStep steps = compiled_control<run_loop>(compile_loop(work));
  std::optional<SmallProgram> small = compile_small_loop(work);
  if (!small) return steps;
  const int64_t scratch = std::max(steps.scratch_bytes, small->frame_bytes);
  auto native = compile_native(*small);
  const int64_t bytes = steps.bytes + small->bytes() + (native ? native->bytes() : 0);
  return {[steps = std::move(steps.run), small = std::move(*small),
           native = std::move(native)](const Slots& slots) {
            if (Recording::open()) return steps(slots);  // with a record for each step
            return run_small(small, native.get(), slots, slots.scratch());
          },
          scratch, bytes};
}
CompiledStep compile_step(const Branch& work, const Plan&) {
  return compiled_control<run_branch>(compile_branch(work));
}

class CpuExecutable : public Executable {
 public:
  explicit CpuExecutable(const Plan& plan) : plan_(plan) {
    steps_.reserve(plan.steps.size());
    for (const Step& step : plan.steps) {
      steps_.push_back(
          std::visit([&](const auto& work) { return compile_step(work, plan); }, step.work));
      scratch_bytes_ = std::max(scratch_bytes_, steps_.back().scratch_bytes);
      bytes_ += steps_.back().bytes;
    }
    bytes_ += bytes_of(steps_);
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
      const bool timed = recording && !has_plans(plan_.steps[i]);
      const StepTimer timer(timed ? recording : nullptr, plan_.steps[i]);
      const Status status = run_step(steps_[i], slots);
      if (!status) return failed(status, i);
      if (interruption.stopped()) return at_step(failure(Problem::Interrupted), i);
    }
    return {};
  }

 private:
  // Steps that call a callback or a library allocate lists of arrays, which may fail.
  static Status run_step(const CompiledStep& step, const Slots& slots) noexcept {
    try {
      return step.run(slots);
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
  std::vector<CompiledStep> steps_;
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
