// Gradient rules written in Python.
#pragma once

#include <pybind11/pybind11.h>

#include "grad/reverse.h"
#include "graph/rule.h"

namespace pullback {

// The Python callable that a rule holds; null for rules of the core.
PyObject* callable_of(Rule* rule);

// {name: Rule} as Python passes it.
OverrideMap override_map(const pybind11::dict& overrides);
// A tensor or a variable as what a gradient is asked about.
Source source_of(PyObject* x);

void bind_gradients(pybind11::module_& m);
// Tapes; then traces, pieces, linear functions and batches (tape.cpp).
void bind_tape(pybind11::module_& m);
void bind_subgraphs(pybind11::module_& m);
void bind_sparsity(pybind11::module_& m);
// evaluate() and gradients() as the package calls them (package_calls.cpp).
void bind_entries(pybind11::module_& m);

}  // namespace pullback
