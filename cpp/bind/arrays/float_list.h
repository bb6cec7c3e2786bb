// Fast path for the most common array_like: nested lists of Python floats.
#pragma once

#include <Python.h>

#include "base/dtype.h"
#include "graph/node.h"

namespace pullback {

// Converts nested lists or tuples that contain Python floats only, with equal sizes at every level;
// null for other objects. `requested` null: the default dtype.
NodeRef node_from_float_list(PyObject* object, const DType* requested, const char* who);

}  // namespace pullback
