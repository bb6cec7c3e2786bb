// Gradient rules written in Python.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/rule.h"

namespace pullback {

// The Python callable that a rule holds; null for rules of the core.
PyObject* callable_of(Rule* rule);

void bind_gradients(pybind11::module_& m);

}  // namespace pullback
