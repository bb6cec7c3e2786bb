// Functions of NumPy arrays as operations.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

namespace pullback {

// A daemon thread that takes the interpreter lock when the interpreter is gone is ended by
// unwinding its stack, which our frames do not allow, and what they hold is gone too. Called while
// that is caught: the thread stays here until the process ends.
[[noreturn]] void stay_until_exit();

// The interpreter lock, for calls from runs that have given it away.
class InterpreterLock {
 public:
  InterpreterLock() {
    try {
      lock_.emplace();
    } catch (...) {
      stay_until_exit();
    }
  }

 private:
  std::optional<pybind11::gil_scoped_acquire> lock_;
};

void bind_callback(pybind11::module_& m);

}  // namespace pullback
