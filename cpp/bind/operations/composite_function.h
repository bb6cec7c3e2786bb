// The public functions that are composites of Python: pullback._core.Composite wraps one of them
// and names its results. Start at open_composite() and at named() in the source file.
#pragma once

#include <pybind11/pybind11.h>

namespace pullback {

void bind_composite(pybind11::module_& m);

// The outermost composite that this thread is calling, which is the one that the program called;
// null outside of all.
const char* open_composite();

}  // namespace pullback
