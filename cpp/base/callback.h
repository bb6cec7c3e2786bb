// A function of the program, of which the core knows nothing but what it takes and gives. A step of
// a plan calls it on the thread that runs the plan, between other steps.
//
// The plan finds it as it finds a random seed: as the integer of a scalar node, which holds it
// (graph/callback_origin.h). So functions share plans, and equal calls are never one. A loop or a
// branch is given such scalars as it is given draws.
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
  // Writes `out`; false where it failed, and `callback_failure` says why.
  virtual bool call(std::span<const CallbackArray> in, const CallbackArray& out) noexcept = 0;

 protected:
  ~Callback() = default;
};

inline thread_local std::exception_ptr callback_failure;

// The failure of a function, which the binding raises as it is.
struct CallbackError : Error {
  explicit CallbackError(std::exception_ptr why)
      : Error(ErrorKind::Runtime, "numpy_function: the callback raised an exception", Of::Run),
        reason(std::move(why)) {}
  std::exception_ptr reason;
};

}  // namespace pullback
