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

namespace pullback {

// What can go wrong while a plan runs. Kernels never throw: they return a Status.
enum class Problem : uint8_t {
  None,
  IndexOutOfRange,  // detail: the index; bound: the length of the axis
  ZeroDivision,     // integer division by zero
  NegativePower,    // an integer to a negative power
  NotPositive,      // a matrix is not positive definite; detail: its place in the batch, bound: how
                    // many there are
  Singular,         // a triangle has a zero on its diagonal; likewise
  NotConverged,     // eigenvalues or singular values were not found; likewise
  Degenerate,       // two eigenvalues or singular values are equal; likewise
  NotUnique,        // a Sylvester equation has no single solution; likewise
  NoLibrary,        // there is none with the routine
  Host,             // a callback failed: see callback_failure
  Injected,         // by a test, through the null backend
  Memory,           // no scratch memory
  Interrupted,      // RunArguments::interrupted said so
};

struct Status {
  Problem problem = Problem::None;
  int32_t step = -1;            // the step that failed
  const Step* inner = nullptr;  // the same, or the step inside of it
  int64_t detail = 0;
  int64_t bound = 0;
  explicit operator bool() const { return problem == Problem::None; }
};

// Everything a run needs; the plan says how many of each.
struct RunArguments {
  const void* const* arguments;
  const Scalar* scalars;
  void* const* outputs;   // one per Output slot
  void* arena;            // plan.arena_bytes + scratch_bytes(), 64-byte aligned
  bool (*interrupted)();  // asked between steps and chunks; true stops the run. May be null.
  bool in_place = false;  // outputs lie in donated memory: see Plan::point_of_no_return
};

class Executable {
 public:
  virtual ~Executable() = default;
  // What it takes itself, beside the plan.
  virtual int64_t bytes() const { return 0; }
  // What its steps need behind the plan's own temporaries, so that a run allocates nothing.
  virtual int64_t scratch_bytes() const { return 0; }
  // May run on several threads at once: an Executable is immutable.
  virtual Status run(const RunArguments& arguments) const noexcept = 0;
};

// A plan that is ready to run. The cache (plan/passes/cache.h) makes them.
struct CachedPlan {
  Plan plan;
  std::unique_ptr<Executable> executable;  // refers to `plan`
  int64_t bytes = 0;                       // what both take, with the key

  CachedPlan() = default;
  ~CachedPlan();
  CachedPlan(const CachedPlan&) = delete;
  CachedPlan& operator=(const CachedPlan&) = delete;
};

// What the planner must know of a processor.
struct Limits {
  int64_t longest_row;      // elements: rows that are longer do not stay in the nearest cache
  int64_t small_space;      // elements: fewer cost less than a step of their own
  int64_t large_space;      // elements: from here on a value is not found in a near cache again
  int64_t large_reduction;  // elements: from here on a reduction's result is worth its memory
  uint32_t repeated;        // operations that cost less than a load from memory
  size_t long_group;        // members after which a group over a large space is cut …
  size_t few_live;          // … where no more values than this are live, …
  size_t longest_group;     // … or after so many anywhere
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  virtual const Limits& limits() const = 0;
  // The plan outlives the executable.
  virtual std::unique_ptr<Executable> compile(const Plan& plan) const = 0;
};

const Backend& cpu_backend();

// The backend that plans are made for; changing it empties the plan cache.
const Backend& planned_backend();
void set_backend(const Backend& backend);

// Computes nothing (outputs are left as they are) and can be told to fail: planner tests and
// overhead benches.
const Backend& null_backend();
// The null backend's next `after`-th run (1 = the very next) reports Problem::Injected.
void null_backend_fail(int after);

// Steps run since the process started, by kind of work: index into Work.
struct StepCounts {
  int64_t of[std::variant_size_v<Work>];
};
StepCounts step_counts();
void count_step(const Step& step);

}  // namespace pullback
