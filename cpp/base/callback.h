// A callback: a Python function that a plan calls. The core sees arrays only; the binding
// implements Callback::call().
//
// The step that calls it runs on the thread that runs the plan, while no other step runs. A plan
// finds the callback through the integer of a scalar node, which keeps it alive
// (graph/callback_origin.h), in the same way as a random seed. So two functions share one plan, and
// two equal calls are never merged as common subexpressions. Such scalars become inputs of a loop
// or a branch, as draws do.
#pragma once

#include <exception>
#include <span>
#include <utility>

#include "base/dtype.h"
#include "base/error.h"
#include "base/shape.h"

namespace pullback {

struct CallbackArray {
  DType dtype;
  Shape shape;
  void* data;  // row-major
};

struct Callback {
  // Writes `out`. Returns false on failure; the exception is then in `callback_failure`.
  virtual bool call(std::span<const CallbackArray> in, const CallbackArray& out) noexcept = 0;

 protected:
  ~Callback() = default;
};

inline thread_local std::exception_ptr callback_failure;

// The exception of a callback; the binding raises `reason` unchanged.
struct CallbackError : Error {
  explicit CallbackError(std::exception_ptr why)
      : Error(ErrorKind::Runtime, "numpy_function: the callback raised an exception", Of::Run),
        reason(std::move(why)) {}
  std::exception_ptr reason;
};

}  // namespace pullback
