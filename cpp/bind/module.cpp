// The extension pullback._core: errors, locks, settings and status; the other folders bind the
// rest. bind is the only folder that depends on Python, and it contains no mathematics. Start at
// PYBIND11_MODULE.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <thread>

#include "backend/cpu/products/blas.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/nvrtc.h"
#include "base/cpu_level.h"
#include "base/settings.h"
#include "base/threads.h"
#include "bind/arrays/convert.h"
#include "bind/arrays/escapes.h"
#include "bind/common/found_once.h"
#include "bind/common/tensor.h"
#include "bind/explain/sites.h"
#include "bind/grad/control_flow.h"
#include "bind/grad/rules.h"
#include "bind/operations/callback.h"
#include "bind/operations/composite_function.h"
#include "bind/operations/functions.h"
#include "bind/types/function.h"
#include "bind/types/indexing.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "graph/runtime.h"
#include "plan/passes/cache.h"
#include "plan/profile.h"
#include "runtime/memory.h"

namespace pullback {

PyObject* exception_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Value:
      return PyExc_ValueError;
    case ErrorKind::Axis:  // a ValueError and an IndexError
      return found_once([]() -> py::object {
               return py::module_::import("numpy.exceptions").attr("AxisError");
             })
          .ptr();
    case ErrorKind::Type:
      return PyExc_TypeError;
    case ErrorKind::Index:
      return PyExc_IndexError;
    case ErrorKind::Lookup:
      return PyExc_LookupError;
    case ErrorKind::Key:
      return PyExc_KeyError;
    case ErrorKind::NotImplemented:
      return PyExc_NotImplementedError;
    case ErrorKind::Memory:
      return PyExc_MemoryError;
    case ErrorKind::Overflow:
      return PyExc_OverflowError;
    case ErrorKind::ZeroDivision:
      return PyExc_ZeroDivisionError;
    case ErrorKind::FloatingPoint:
      return PyExc_FloatingPointError;
    case ErrorKind::LinearAlgebra:
      return found_once([]() -> py::object {
               return py::module_::import("numpy.linalg").attr("LinAlgError");
             })
          .ptr();
    default:
      return PyExc_RuntimeError;
  }
}

namespace {

// The exception that a signal handler raised while a plan ran; raised after the lock is taken
// again.
py::error_already_set* pending_signal = nullptr;
std::atomic<int64_t> last_signal_check{0};

// A coarse clock, which is read between any two steps; errors of a few milliseconds do not matter.
int64_t coarse_milliseconds() {
#if defined(CLOCK_MONOTONIC_COARSE)
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
#else
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
#endif
}

// Python's main thread, which alone handles signals; in a forked child, the thread that forked.
std::atomic<unsigned long> main_thread{0};

// The number of runs that have released the lock. At exit, runs of daemon threads continue after
// the interpreter has ended, while libraries free data that those runs use.
std::atomic<int> running{0};
std::atomic<bool> ending{false};

void await_runs() {
  constexpr int kMost = 5000;
  ending = true;  // runs stop after their present chunk
  for (int i = 0; i < kMost && running > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void* release_lock() {
  ++running;
  return PyEval_SaveThread();
}

void find_main_thread() {
  // Importing threading takes time. If it is not imported, there are no other Python threads.
  const py::dict modules = py::module_::import("sys").attr("modules");
  main_thread = modules.contains("threading")
                    ? modules["threading"].attr("main_thread")().attr("ident").cast<unsigned long>()
                    : PyThread_get_thread_ident();
  at_fork(nullptr, nullptr, [] {
    main_thread = PyThread_get_thread_ident();
    running = 0;  // runs of other threads do not exist in the child
  });
  std::atexit(await_runs);
}

// Called between steps and chunks without the lock. Taking the lock is expensive, so at most every
// 20 ms.
bool interrupted() {
  if (ending) return true;
  if (PyThread_get_thread_ident() != main_thread) return false;
  const int64_t now = coarse_milliseconds();
  if (now - last_signal_check.load(std::memory_order_relaxed) < 20) return false;
  last_signal_check.store(now, std::memory_order_relaxed);
  const CallbackScope callback_scope;  // a signal handler may wait for a thread that evaluates
  py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return false;
  delete pending_signal;
  pending_signal = new py::error_already_set;
  return true;
}

void acquire_lock(void* state) {
  --running;
  try {
    PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  } catch (...) {
    ++running;
    stay_until_exit();
  }
}

void check_signals() {
  if (!pending_signal) return;
  const py::error_already_set error = *pending_signal;
  delete std::exchange(pending_signal, nullptr);
  throw error;
}

void warn_many_nodes(const Node* newest) {
  const std::string message =
      text("more than ", kManyNodes, " graph nodes are alive; the newest is ", display_name(newest),
           " of shape ", newest->shape,
           ". A history grows: `total += loss` keeps the history of every step, "
           "`total += float(loss)` does not.");
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1) < 0) throw py::error_already_set();
}

Typed<"dict[str, typing.Any]", py::dict> build_info() {
  const BlasInfo blas = blas_info();
  py::dict blas_dict;
  blas_dict["path"] = blas.path;
  blas_dict["corename"] = blas.corename;
  blas_dict["config"] = blas.config;
  blas_dict["error"] = blas.error;
  py::dict gpus;
  gpus["available"] = cuda::unavailable_reason().empty();
  gpus["reason"] = cuda::unavailable_reason();
  gpus["missing_compiler"] = cuda::unavailable_reason().empty() ? cuda::missing_nvrtc() : "";
  py::dict environment;
  for (const auto& [name, value] : environment_in_force()) environment[py::str(name)] = value;
  py::dict out;
  out["version"] = PULLBACK_VERSION;
  out["cpu_level"] = name_of(cpu_level());
  out["blas"] = blas_dict;
  out["threads"] = num_threads();
  out["cuda"] = gpus;
  out["environment"] = environment;
  return out;
}

// Counters for tests, benches and the doctor.
Typed<"dict[str, typing.Any]", py::dict> status() {
  const CacheStatus cache = cache_status();
  const MemoryStatus memory = memory_status();
  const StepCounts steps = step_counts();
  py::dict counts;
  for (size_t i = 0; i < std::size(kWorkNames); ++i) counts[kWorkNames[i]] = steps.of[i];
  py::dict out;
  out["plan_hits"] = cache.hits;
  out["plan_misses"] = cache.misses;
  out["plans"] = cache.size;
  out["plan_bytes"] = cache.bytes;
  out["live_nodes"] = live_nodes();
  out["live_bytes"] = memory.live_bytes;
  out["live_buffers"] = memory.live_blocks;
  out["peak_bytes"] = memory.peak_bytes;
  out["cached_bytes"] = memory.cached_bytes;
  out["steps"] = counts;
  return out;
}

// (kind, operation, dtype, bytes, operations, elements, runs, seconds, labels) of every step that
// runs during `call`. With `locate`, plans are made anew, and a label is a name and a place in the
// program; otherwise there are none.
Typed<"list[pullback._typing.RecordedStep]", py::list> recorded_steps(
    const Typed<"collections.abc.Callable[[], builtins.object]", py::function>& call, bool locate) {
  std::optional<Located> located;
  if (locate) located.emplace();
  const Recording recording;
  call();
  if (!recording.complete()) {
    fail(ErrorKind::Memory, "profile: cannot allocate memory for the measurements");
  }
  py::list out;
  for (const StepRecord& step : recording.steps()) {
    py::list labels;
    for (const Label& label : step.labels) {
      labels.append(py::make_tuple(name_of(label), site_of(label.site)));
    }
    out.append(py::make_tuple(step.kind, step.source, name_of(step.dtype), step.cost.bytes,
                              step.cost.operations, step.cost.elements, step.runs, step.seconds,
                              labels));
  }
  return out;
}

void bind_testing(py::module_& m) {
  m.def(
      "set_backend",
      [](const std::string& name) {
        if (name == "cpu") return set_backend(cpu_backend());
        if (name == "null") return set_backend(null_backend());
        if (name == "one_step") return set_backend(one_step_backend());
        fail(ErrorKind::Value, "set_backend: name must be one of 'cpu', 'null', 'one_step'; got '",
             name, "'");
      },
      py::arg("name"),
      "Run plans on the backend 'cpu', on 'null', which computes nothing, or on 'one_step', which "
      "runs each step as a plan of its own on the CPU.");
  m.def("fail_run", &null_backend_fail, py::arg("after"),
        "Make a later run of the null backend fail; 1 is the next one.");
  m.def("fail_allocation", &fail_allocation, py::arg("after"),
        "Make a later allocation raise MemoryError; 1 is the next one, 0 cancels.");
  m.def("clear_plans", &clear_cache, "Remove all cached plans.");
  m.def("reset_peak_bytes", &reset_peak_bytes, "Set the peak to the present number of live bytes.");
  m.def("trim_memory", &trim_memory, "Return every cached block of memory to the system.");
  m.def(
      "describe_plan",
      [](const std::vector<NodeRef>& nodes) { return describe_plan(pointers(nodes)); },
      py::arg("tensors"), "Return the plan that evaluates tensors, one line for each step.");
}

}  // namespace

void stay_until_exit() {
  --running;
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace pullback

PYBIND11_MODULE(_core, m) {
  using namespace pullback;
  m.doc() = "The C++ core of pullback; use the package's public names instead.";
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Error&) {
      raise_current();
    }
  });
  find_main_thread();
  runtime.release_lock = release_lock;
  runtime.acquire_lock = acquire_lock;
  runtime.interrupted = interrupted;
  runtime.check_signals = check_signals;
  runtime.warn_many_nodes = warn_many_nodes;
  cpu_level();  // a wrong PULLBACK_CPU_LEVEL fails the import, since kernels cannot raise
  install_evaluation();
  bind_tensor(m);
  bind_variable(m);
  bind_functions(m);
  bind_indexing(m);
  bind_callback(m);
  bind_composite(m);
  bind_rules(m);
  bind_tape(m);
  bind_subgraphs(m);
  bind_custom_gradient(m);
  bind_sparsity(m);
  bind_control(m);
  bind_recorder(m);
  bind_ancestry(m);
  bind_unrolled(m);
  bind_linalg(m);
  bind_matrix_functions(m);
  bind_random(m);
  bind_attention(m);
  bind_fourier(m);
  bind_layers(m);
  bind_statistics(m);
  bind_check_numbers(m);
  bind_escapes(m);
  bind_entries(m);
  bind_tree(m);
  bind_function(m);
  bind_device(m);
  bind_dlpack(m);
  m.attr("__version__") = PULLBACK_VERSION;
  m.def("build_info", &build_info, "Describe the build and the machine.");
  m.def("status", &status, "Return counters of plans, nodes, memory and steps.");
  m.def("recorded_steps", &recorded_steps, py::arg("call"), py::arg("locate") = false,
        "Call a function and return kind, operation, dtype, bytes, operations, elements, runs, "
        "seconds and labels of its steps.");
  m.def("set_blas_path", &set_blas_path, py::arg("path"), "Set the path of the BLAS library.");
  m.def("num_threads", &num_threads, "Return the number of threads that plans use.");
  m.def("set_num_threads", &set_num_threads, py::arg("n"), "Set the number of threads.");
  m.def("default_float", &default_float, "Return the dtype of Python floats.");
  m.def("set_default_float", &set_default_float, py::arg("dtype"),
        "Set the dtype of Python floats.");
  bind_testing(m);
}
