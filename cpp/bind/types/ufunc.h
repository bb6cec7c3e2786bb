// NumPy's protocol for universal functions (array_ufunc).
#pragma once

#include <Python.h>

namespace pullback {

// __array_ufunc__ of Tensor and Variable.
PyObject* array_ufunc_method(PyObject* self, PyObject* const* args, Py_ssize_t count,
                             PyObject* names);

}  // namespace pullback
