// The interface of a backend: it compiles a plan once and runs it many times.
//
// Backend::compile() makes an Executable; Executable::run() takes RunArguments and returns a
// Status. A backend sees plans, never nodes. run() is called without the interpreter lock and does
// not throw; an Executable is immutable, so several threads may run it at once.
#pragma once

#include <memory>
#include <string>

#include "base/dtype.h"
#include "plan/plan.h"
#include "runtime/device_memory.h"

namespace pullback {

// The failures of a run. Kernels never throw: they return a Status.
enum class Problem : uint8_t {
  None,
  IndexOutOfRange,  // detail: the index; bound: the length of the axis
  ZeroDivision,     // integer division by zero
  NegativePower,    // an integer to a negative power
  NotPositive,   // a matrix is not positive definite; detail: its number in the batch, bound: the
                 // batch's size
  Singular,      // a triangle has a zero on its diagonal; as above
  NotConverged,  // no convergence of eigenvalues or singular values; as above
  Degenerate,    // equal eigenvalues or singular values; as above
  NotUnique,     // a Sylvester equation without a unique solution; as above
  NoLibrary,     // no library with the routine
  Callback,      // a callback failed: see callback_failure
  Injected,      // by a test, with the null backend
  Memory,        // no scratch memory
  Device,        // the device has failed: see DeviceMemory::failure()
  Interrupted,   // RunArguments::interrupted returned true
};

struct Status {
  Problem problem = Problem::None;
  int32_t step = -1;            // the failed step
  const Step* inner = nullptr;  // the same, or the failed step inside of it
  int64_t detail = 0;
  int64_t bound = 0;
  explicit operator bool() const { return problem == Problem::None; }
};

// Everything a run needs; the plan has the number of each.
struct RunArguments {
  const void* const* arguments;  // addresses of the device
  const Scalar* scalars;
  void* const* outputs;   // one per Output slot
  void* arena;            // plan.arena_bytes + scratch_bytes(), 64-byte aligned
  bool (*interrupted)();  // called between steps and chunks; true stops the run. May be null.
  bool in_place = false;  // outputs lie in donated memory: see Plan::point_of_no_return
};

class Executable {
 public:
  virtual ~Executable() = default;
  // Bytes of the executable without its plan.
  virtual int64_t bytes() const { return 0; }
  // Bytes of scratch memory after the plan's temporaries, so that a run allocates nothing.
  virtual int64_t scratch_bytes() const { return 0; }
  // May run on several threads at once: an Executable is immutable.
  virtual Status run(const RunArguments& arguments) const noexcept = 0;
};

// A plan that is ready to run. The cache (plan/passes/cache.h) makes them.
struct CachedPlan {
  Plan plan;
  std::unique_ptr<Executable> executable;  // refers to `plan`
  Device device;                           // on which it runs, and has its buffers
  int64_t bytes = 0;                       // what both take, with the key

  CachedPlan() = default;
  ~CachedPlan();
  CachedPlan(const CachedPlan&) = delete;
  CachedPlan& operator=(const CachedPlan&) = delete;
};

// Properties of a processor for the planner.
struct Limits {
  int64_t longest_row;      // elements: longer rows do not stay in the nearest cache
  int64_t small_domain;     // elements: smaller domains cost less than an additional step
  int64_t large_domain;     // elements: larger values do not stay in a near cache
  int64_t large_reduction;  // elements: results of larger reductions are worth storing
  uint32_t repeated;        // operations that together cost less than a load from memory
  size_t long_group;        // members after which a group over a large domain may be divided
  size_t few_live;          // if no more values are live there
  size_t longest_group;     // members after which it is divided in any case
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  virtual Device device() const { return kHost; }
  virtual DeviceMemory& memory() const { return host_memory(); }
  virtual const Limits& limits() const = 0;
  // The plan outlives the executable.
  virtual std::unique_ptr<Executable> compile(const Plan& plan) const = 0;
};

const Backend& cpu_backend();

// The backend that compiles the plans of a device: at first cpu_backend() for the host and none for
// others. set_backend() replaces the one of its device, and empties the plan cache.
const Backend& backend_of(Device device);
void set_backend(const Backend& backend);

// Computes nothing (outputs are unchanged) and can be made to fail; for planner tests and benches.
const Backend& null_backend();
// The null backend's next `after`-th run (1 = the very next) reports Problem::Injected.
void null_backend_fail(int after);

// Runs each step as a plan of its own on the CPU backend, with copies (plan/one_step.h); for tests.
const Backend& one_step_backend();

// Steps run since the process started, by kind of work: index into Work.
struct StepCounts {
  int64_t of[std::variant_size_v<Work>];
};
StepCounts step_counts();
void count_step(const Step& step, int64_t times = 1);

}  // namespace pullback
