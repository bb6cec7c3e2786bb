// Callbacks of Python functions, and the lock that they take.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <optional>

namespace pullback {

// Python ends a daemon thread that takes the interpreter lock after the interpreter has ended by
// unwinding its stack, which our frames do not allow. Called in the catch block; the thread stays
// here until the process ends.
[[noreturn]] void stay_until_exit();

// Calls Python code from a frame of ours.
template <class Call>
pybind11::object called(Call&& call) {
  try {
    return call();
  } catch (const std::exception&) {
    throw;
  } catch (...) {
    stay_until_exit();
  }
}

// The interpreter lock, for calls from runs that have released it.
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
