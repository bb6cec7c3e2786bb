// Functions of NumPy arrays as operations.
#pragma once

#include <pybind11/pybind11.h>

namespace pullback {

// A daemon thread that takes the interpreter lock when the interpreter is gone is ended by
// unwinding its stack, which our frames do not allow, and what they hold is gone too. Called while
// that is caught: the thread stays here until the process ends.
[[noreturn]] void stay_until_exit();

void bind_host(pybind11::module_& m);

}  // namespace pullback
