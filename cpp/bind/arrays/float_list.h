// The quick way for what most people write: nested lists of Python floats.
#pragma once

#include <Python.h>

#include "base/dtype.h"
#include "graph/node.h"

namespace pullback {

// Nested lists or tuples of Python floats and nothing else, every level of one length; null for
// whatever is not exactly that. `wish` null gives the default dtype.
NodeRef node_from_float_list(PyObject* object, const DType* wish, const char* who);

}  // namespace pullback
