// Gradient rules written in Python, and the binding of tapes and gradients.
#pragma once

#include <pybind11/pybind11.h>

#include <span>
#include <string>

#include "bind/common/typed.h"
#include "grad/reverse.h"
#include "graph/rule.h"

namespace pullback {

using SourceList = Typed<"pullback._typing.SourceList", pybind11::list>;
using OptionalRules = Typed<"dict[str, Rule] | None">;

// The Python callable of a rule; null for rules of the core.
PyObject* callable_of(Rule* rule);

// Converts {name: Rule} from Python.
OverrideMap override_map(const pybind11::dict& overrides);
// A tensor or a variable as the source of a gradient.
Source source_of(PyObject* x);

// How many rules of Python functions this thread is running. Such a rule may have tensors of a body
// that was recorded before.
inline thread_local int running_rules = 0;

// The rule of a function fn(op name, inputs, outputs, cotangents); `name` for errors.
Ref<Rule> python_rule(pybind11::object fn, std::string name);

// For functions that take their arguments without conversion (METH_FASTCALL).
inline PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
// Adds functions to the module; it keeps references to the definitions.
void add_functions(pybind11::module_& m, std::span<PyMethodDef> definitions);

void bind_custom_gradient(pybind11::module_& m);
void bind_rules(pybind11::module_& m);
// Tapes, traces, recorded subgraphs, linear functions and batches (tape.cpp).
void bind_tape(pybind11::module_& m);
void bind_subgraphs(pybind11::module_& m);
void bind_sparsity(pybind11::module_& m);
// evaluate(), gradients() and tangents() for the package (package_calls.cpp).
void bind_entries(pybind11::module_& m);

}  // namespace pullback
